//! Other runs of this program that load the same machine: each says that it does by a name in the
//! kernel's abstract names, which every user may read and which goes with its process. Nobody is
//! asked, no port is opened, and no file is made.
//!
//! A name is not proof: whoever lies makes a doubt, and no more. Another network namespace, such as
//! a container's, has names of its own: who loads there is not seen.

use super::audit_line::Starter;
use model::note::OtherRun;
use model::plan::{HostPlan, PlannedTarget};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What all of these names begin with.
const PREFIX: &str = "plimsoll-load/";
/// The kernel's list of names, as everybody may read it.
const NAMES: &str = "/proc/net/unix";
/// Of which no more is read, in bytes: a machine with 100,000 sockets has less.
const MOST_READ: u64 = 16 << 20;
/// Where this is set, no name is taken and nobody is looked for: for tests that run side by side.
const ALONE: &str = "PLIMSOLL_ALONE";
/// How often is looked while a stage runs.
const LOOK: Duration = Duration::from_secs(5);
/// So many other runs are told of, at most.
const MOST_TOLD: usize = 8;
/// The parts of a name are so long at most, in bytes: the kernel takes 107 of them in all.
const LONGEST: Longest = Longest { user: 12, from: 15, run: 28 };
/// Of a run's name that is too long, so many characters at its end stay.
const LAST: usize = 6;
/// Disks and file systems that a name has.
const MOST_DEVICES: usize = 2;

struct Longest {
    user: usize,
    from: usize,
    run: usize,
}

/// What tells a run's own name from those of others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Own {
    run: String,
    devices: Vec<u64>,
}

/// A run that is known to load this machine until this is dropped.
#[derive(Debug)]
pub(super) struct Presence {
    own: Own,
    /// Where the name could not be taken, others are looked for all the same.
    _name: Option<UnixDatagram>,
}

impl Presence {
    /// Says that this host's share of a run is carried out, if it touches anything but memory.
    pub(super) fn begin(plan: &HostPlan) -> Option<Presence> {
        if std::env::var_os(ALONE).is_some() {
            return None;
        }
        let real = |kind: &PlannedTarget| *kind != PlannedTarget::Simulated;
        let mut real = plan.targets.iter().filter(|target| real(&target.kind)).peekable();
        real.peek()?;
        let mut devices: Vec<u64> =
            real.filter_map(|target| device_of(&target.path)).take(MOST_DEVICES).collect();
        devices.dedup();
        let own = Own { run: run_of(&plan.run_id), devices };
        let text = name(&own, &Starter::here(), std::process::id(), crate::unix_ns());
        let bound = SocketAddr::from_abstract_name(text)
            .and_then(|address| UnixDatagram::bind_addr(&address));
        Some(Presence { own, _name: bound.ok() })
    }

    /// Looks for others from now on, until the looking is ended.
    pub(super) fn look(&self) -> Looking {
        let own = self.own.clone();
        let (end, ended) = channel::<()>();
        let mut seen = Others::default();
        // Whoever is there already is seen, however soon the stage ends.
        seen.add(others(&read(), &own));
        let thread = thread::spawn(move || {
            loop {
                let goes_on = ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout);
                seen.add(others(&read(), &own));
                if !goes_on {
                    return seen.0.into_values().collect();
                }
            }
        });
        Looking { end, thread }
    }
}

#[derive(Debug, Default)]
struct Others(BTreeMap<String, OtherRun>);

impl Others {
    fn add(&mut self, others: Vec<OtherRun>) {
        for other in others {
            if self.0.len() < MOST_TOLD || self.0.contains_key(&other.run) {
                let known = self.0.entry(other.run.clone()).or_insert_with(|| other.clone());
                known.same_place |= other.same_place;
            }
        }
    }
}

pub(super) struct Looking {
    end: Sender<()>,
    thread: JoinHandle<Vec<OtherRun>>,
}

impl Looking {
    /// Ends it: the other runs that were there meanwhile.
    pub(super) fn end(self) -> Vec<OtherRun> {
        drop(self.end);
        self.thread.join().unwrap_or_default()
    }
}

/// The number of the device that holds what stands at a path, or is to stand there: its own, if it
/// is one.
fn device_of(path: &str) -> Option<u64> {
    let path = Path::new(path);
    let above = || path.parent().and_then(|above| std::fs::metadata(above).ok());
    let facts = std::fs::metadata(path).ok().or_else(above)?;
    Some(if facts.file_type().is_block_device() { facts.rdev() } else { facts.dev() })
}

/// The names that are taken; empty where the kernel does not tell.
fn read() -> String {
    let mut text = Vec::new();
    // A list that cannot be read has nobody in it.
    let _ = File::open(NAMES).and_then(|file| file.take(MOST_READ).read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

/// The name of a run, cut behind its begin where it is too long; the characters at its end stay,
/// which tell runs of one suite apart.
fn run_of(text: &str) -> String {
    let (plain, longest) = (plain(text), LONGEST.run);
    match plain.len() > longest {
        true => {
            let begin = &plain[..longest - 1 - LAST];
            format!("{begin}~{}", &plain[plain.len() - LAST..])
        }
        false => plain,
    }
}

/// The begin of a text, with a sign where it goes on.
fn begin_of(text: &str, longest: usize) -> String {
    let plain = plain(text);
    match plain.len() > longest {
        true => format!("{}~", &plain[..longest - 1]),
        false => plain,
    }
}

fn plain(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:~".contains(c);
    text.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// The name of a run on this machine.
fn name(own: &Own, starter: &Starter, pid: u32, unix_ns: u64) -> String {
    let from = starter.from.as_deref().unwrap_or_default();
    let devices: Vec<String> = own.devices.iter().map(|device| format!("{device:x}")).collect();
    format!(
        "{PREFIX}{pid}/{}/{}/{}/{}/{}",
        unix_ns / 1_000_000_000,
        begin_of(&starter.user, LONGEST.user),
        begin_of(from, LONGEST.from),
        devices.join(","),
        own.run
    )
}

/// The other runs in the kernel's list, each once.
fn others(list: &str, own: &Own) -> Vec<OtherRun> {
    let mut found = Others::default();
    let names = list.lines().filter_map(|line| line.split_whitespace().nth(7));
    for (mut other, devices) in names.filter_map(parsed) {
        if other.run == own.run {
            continue;
        }
        other.same_place = devices.iter().any(|device| own.devices.contains(device));
        found.add(vec![other]);
    }
    found.0.into_values().collect()
}

/// Whom a name is of, and the devices that are loaded; `None` where it is none of ours. Anybody may
/// have written it.
fn parsed(name: &str) -> Option<(OtherRun, Vec<u64>)> {
    let mut parts = name.strip_prefix('@')?.strip_prefix(PREFIX)?.split('/');
    let mut next = |longest: usize| {
        let part = parts.next().filter(|part| part.len() <= longest)?;
        (plain(&part.replace(',', "_")) == part.replace(',', "_")).then(|| part.to_owned())
    };
    let pid = next(10)?.parse().ok()?;
    let since_unix_s = next(12)?.parse().ok()?;
    let user = next(LONGEST.user)?;
    let from = Some(next(LONGEST.from)?).filter(|from| !from.is_empty());
    let devices = next(64)?;
    let devices = devices.split(',').filter_map(|one| u64::from_str_radix(one, 16).ok());
    let devices = devices.take(MOST_DEVICES).collect();
    let run = next(LONGEST.run).filter(|run| !run.is_empty())?;
    let is_whole = parts.next().is_none();
    let other = OtherRun { run, user, from, pid, since_unix_s, same_place: false };
    is_whole.then_some((other, devices))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(run: &str, devices: &[u64]) -> Own {
        Own { run: run_of(run), devices: devices.to_vec() }
    }

    fn starter(user: &str, from: Option<&str>) -> Starter {
        Starter { user: user.to_owned(), from: from.map(str::to_owned), behind: None }
    }

    fn line(name: &str) -> String {
        format!("0000000000000000: 00000002 00000000 00000000 0002 01 12345 @{name}\n")
    }

    #[test]
    fn a_name_has_room_and_says_who_loads_since_when_and_from_where() {
        let long = "a-suite-with-a-very-long-name-20261123-220102-ab12cd";
        let theirs = own(long, &[u64::from(u32::MAX) >> 4, u64::from(u32::MAX) >> 4]);
        let who = starter("somebody with a long name", Some("2001:db8:1234:5678::9abc"));
        let text = name(&theirs, &who, 4_194_304, 1_795_000_000_000_000_000);
        assert!(text.len() <= 107, "{} bytes: {text}", text.len());
        let list = format!("Num RefCount Protocol Flags Type St Inode Path\n{}", line(&text));
        let found = others(&list, &own("other", &[7]));
        let [other] = &found[..] else { panic!("{found:?}") };
        assert_eq!(other.run, "a-suite-with-a-very-l~ab12cd");
        assert_eq!(
            (other.user.as_str(), other.from.as_deref()),
            ("somebody_wi~", Some("2001:db8:1234:~"))
        );
        assert_eq!(
            (other.pid, other.since_unix_s, other.same_place),
            (4_194_304, 1_795_000_000, false)
        );
    }

    #[test]
    fn the_own_run_is_none_of_the_others_and_one_disk_makes_it_the_same_place() {
        let mine = own("r-1", &[5]);
        let of = |run: &str, device: u64| {
            line(&name(&own(run, &[device]), &starter("u", None), 1, 2_000_000_000))
        };
        let list = [of("r-1", 5), of("r-2", 6), of("r-2", 5), of("r-3", 6)].concat();
        let found = others(&list, &mine);
        let told: Vec<(&str, bool)> =
            found.iter().map(|other| (other.run.as_str(), other.same_place)).collect();
        assert_eq!(told, [("r-2", true), ("r-3", false)]);
        assert!(found[0].from.is_none());
    }

    #[test]
    fn names_of_anybody_are_read_strictly_and_told_of_up_to_a_bound() {
        let bad = [
            "plimsoll-load/",
            "plimsoll-load/x/1/u//5/r",
            "plimsoll-load/1/1/u//5/",
            "plimsoll-load/1/1/u//5/r/more",
            "plimsoll-load/1/1/\u{1b}[2J//5/r",
            "plimsoll-load/1/1/much-too-long-a-name//5/r",
            "plimsoll-held-r",
        ];
        for name in bad {
            assert_eq!(others(&line(name), &own("mine", &[])), [], "{name}");
        }
        let many: String =
            (0..100).map(|n| line(&format!("plimsoll-load/1/1/u//5/r{n}"))).collect();
        assert_eq!(others(&many, &own("mine", &[])).len(), MOST_TOLD);
    }

    #[test]
    fn a_run_that_begins_is_seen_by_another_until_it_ends() {
        let unique = format!("{}-{}", std::process::id(), crate::unix_ns() % 1_000_000_000);
        let mine = own(&format!("mine-{unique}"), &[5]);
        let theirs = own(&format!("t-{unique}"), &[5]);
        let text = name(&theirs, &Starter::here(), 1, crate::unix_ns());
        let address = SocketAddr::from_abstract_name(text).expect("a name");
        let bound = UnixDatagram::bind_addr(&address).expect("free");
        let sees = || others(&read(), &mine).iter().any(|other| other.run == theirs.run);
        assert!(sees());
        drop(bound);
        assert!(!sees());
    }
}
