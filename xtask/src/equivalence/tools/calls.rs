//! What programs ask of files, by their system calls as strace writes them: a text for each thread.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Calls that are written down.
pub(super) const TRACED: &str = "open,openat,creat,read,write,pread64,pwrite64,preadv2,pwritev2,\
    lseek,fsync,fdatasync,unlink,unlinkat,mkdir,mkdirat,rmdir,rename,renameat,renameat2,stat,\
    lstat,newfstatat,statx";

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    Create,
    Open,
    Read,
    Write,
    Sync,
    Remove,
    Mkdir,
    Rmdir,
    Stat,
    Rename,
}

/// A call that did what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// In µs since 1970.
    pub at_us: u64,
    /// The thread.
    pub source: u32,
    pub what: What,
    /// Below the directory that is watched.
    pub path: String,
    pub offset: u64,
    pub length: u64,
}

/// The calls of all threads of a trace in this folder to what is below `root`, in turn.
pub(super) fn calls(folder: &Path, root: &str) -> Vec<Call> {
    let mut all = Vec::new();
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        let Some(source) = name.rsplit('.').next().and_then(|pid| pid.parse().ok()) else {
            continue;
        };
        let text = fs::read_to_string(file.path()).unwrap_or_default();
        all.extend(of_thread(source, &text, root));
    }
    all.sort_by_key(|call| call.at_us);
    all
}

/// The calls of a thread's text.
pub(super) fn of_thread(source: u32, text: &str, root: &str) -> Vec<Call> {
    // Where each open file is read or written next.
    let mut places = BTreeMap::new();
    let read = |line| call(line, source, root, &mut places);
    text.lines().filter_map(read).collect()
}

/// `5.000001 openat(AT_FDCWD</work>, "/x/f", O_RDONLY) = 3</x/f>`
fn call(line: &str, source: u32, root: &str, places: &mut BTreeMap<u64, u64>) -> Option<Call> {
    let (at, rest) = line.split_once(' ')?;
    let (name, rest) = rest.split_once('(')?;
    let (args, result) = rest.rsplit_once(" = ")?;
    let args = args.trim_end().strip_suffix(')')?;
    let result: u64 = number(result)?;
    let path = path(args)?;
    let path = path.strip_prefix(root)?.trim_start_matches('/').to_owned();
    let file = number(args);
    let place = file.and_then(|file| places.get(&file).copied()).unwrap_or(0);
    let argument = |behind: usize| args.rsplit(", ").nth(behind).and_then(number);
    let (what, offset) = match name {
        "open" | "openat" | "creat" => {
            places.insert(result, 0);
            let is_made = args.contains("O_CREAT") || name == "creat";
            let what = if is_made { What::Create } else { What::Open };
            (Some(what).filter(|_| !args.contains("O_DIRECTORY")), 0)
        }
        "lseek" => {
            places.insert(file?, result);
            (None, 0)
        }
        "read" | "write" => {
            places.insert(file?, place + result);
            (Some(if name == "read" { What::Read } else { What::Write }), place)
        }
        "pread64" => (Some(What::Read), argument(0)?),
        "pwrite64" => (Some(What::Write), argument(0)?),
        "preadv2" => (Some(What::Read), argument(1)?),
        "pwritev2" => (Some(What::Write), argument(1)?),
        "fsync" | "fdatasync" => (Some(What::Sync), 0),
        "rmdir" => (Some(What::Rmdir), 0),
        "unlinkat" if args.contains("AT_REMOVEDIR") => (Some(What::Rmdir), 0),
        "unlink" | "unlinkat" => (Some(What::Remove), 0),
        "mkdir" | "mkdirat" => (Some(What::Mkdir), 0),
        "rename" | "renameat" | "renameat2" => (Some(What::Rename), 0),
        // An empty name is that of an open file.
        _ => (Some(What::Stat).filter(|_| !args.contains(", \"\"")), 0),
    };
    let (whole, part) = at.split_once('.')?;
    let at_us = whole.parse::<u64>().ok()? * 1_000_000 + part.parse::<u64>().ok()?;
    let length = if matches!(what?, What::Read | What::Write) { result } else { 0 };
    Some(Call { at_us, source, what: what?, path, offset, length })
}

/// The number that this begins with.
fn number(text: &str) -> Option<u64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The path that arguments name: of an open file, or by a name from an open directory.
fn path(args: &str) -> Option<String> {
    let (first, rest) = args.split_once(", ").unwrap_or((args, ""));
    let open = first.split_once('<').map(|(_, path)| path.trim_end_matches('>'));
    let name = |text: &str| Some(text.strip_prefix('"')?.split('"').next()?.to_owned());
    let Some(open) = open else { return name(first) };
    let open = open.trim_end_matches(" (deleted)");
    match name(rest).filter(|name| !name.is_empty()) {
        Some(name) if name.starts_with('/') => Some(name),
        Some(name) => Some(format!("{open}/{name}")),
        None => Some(open.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strace_writes_is_read() {
        let text = "\
            1.000001 openat(AT_FDCWD</work>, \"/x/f\", O_RDWR|O_CREAT, 0664) = 17</x/f>\n\
            1.000002 lseek(17</x/f>, 4096, SEEK_SET)         = 4096\n\
            1.000003 write(17</x/f>, \"\"..., 512) = 512\n\
            1.000004 write(17</x/f>, \"\"..., 512) = 512\n\
            1.000005 pwritev2(17</x/f>, [{iov_base=\"\"..., iov_len=99}], 1, 8192, 0) = 99\n\
            1.000006 pread64(17</x/f>, \"\"..., 512, 1024) = 512\n\
            1.000007 fdatasync(17</x/f>) = 0\n\
            1.000008 unlinkat(5</x/d>, \"m1\", AT_REMOVEDIR) = 0\n\
            1.000009 unlink(\"/x/d/a\") = -1 ENOENT (No such file or directory)\n\
            1.000010 newfstatat(5</x/d>, \"\", {st_mode=S_IFDIR|0755, ...}, AT_EMPTY_PATH) = 0\n\
            1.000011 statx(5</x/d>, \"f1\", AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, {...}) = 0\n\
            1.000012 mkdir(\"/elsewhere/a\", 0755) = 0\n\
            1.000013 rename(\"/x/a\", \"/x/b\") = 0\n";
        let all = of_thread(7, text, "/x");
        let told = |call: &Call| (call.what, call.path.clone(), call.offset, call.length);
        let of = |what, path: &str, offset, length| (what, path.to_owned(), offset, length);
        assert_eq!(
            all.iter().map(told).collect::<Vec<_>>(),
            [
                of(What::Create, "f", 0, 0),
                of(What::Write, "f", 4_096, 512),
                of(What::Write, "f", 4_608, 512),
                of(What::Write, "f", 8_192, 99),
                of(What::Read, "f", 1_024, 512),
                of(What::Sync, "f", 0, 0),
                of(What::Rmdir, "d/m1", 0, 0),
                of(What::Stat, "d/f1", 0, 0),
                of(What::Rename, "a", 0, 0),
            ]
        );
        assert_eq!((all[0].at_us, all[0].source), (1_000_001, 7));
    }
}
