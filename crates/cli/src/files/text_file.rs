//! Reads a file of text that a user names: a suite, a testbed, published figures.

use crate::failure::Failure;
use crate::files::plain_file;
use std::io::ErrorKind;
use std::path::Path;

/// No such file is larger; what is was named by mistake, and is not read into memory.
const MOST_BYTES: u64 = 1 << 20;

/// The text of the file at `path`, which is to be a `kind` of file.
pub(crate) fn read(path: &Path, kind: &str) -> Result<String, Failure> {
    let wrong = |what: String| Failure::usage(format!("{kind} {}: {what}", path.display()));
    let bytes = bytes(path, kind, MOST_BYTES)?;
    String::from_utf8(bytes).map_err(|_| wrong(format!("is not UTF-8 text; name a {kind} file")))
}

/// The same of a file that another tool wrote, perhaps under Windows: UTF-16 is read as well, and
/// what is no letter in UTF-8 becomes a replacement character.
pub(crate) fn read_foreign(path: &Path, kind: &str, most_bytes: u64) -> Result<String, Failure> {
    Ok(decoded(&bytes(path, kind, most_bytes)?))
}

pub(crate) fn of_suite(folder: &Path, name: &str) -> Result<String, String> {
    let path = folder.join(name);
    let bytes = plain_file::read(&path, MOST_BYTES).map_err(|error| error.to_string())?;
    match dialects::packing::packed(&bytes) {
        Some((what, remedy)) => Err(format!("it is {what}: {remedy}")),
        None => Ok(decoded(&bytes)),
    }
}

fn decoded(bytes: &[u8]) -> String {
    let units = |of: fn([u8; 2]) -> u16| {
        let pairs = bytes[2..].chunks_exact(2).map(|pair| of([pair[0], pair[1]]));
        String::from_utf16_lossy(&pairs.collect::<Vec<u16>>())
    };
    match bytes {
        [0xff, 0xfe, ..] => units(u16::from_le_bytes),
        [0xfe, 0xff, ..] => units(u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        bytes => String::from_utf8_lossy(bytes).into_owned(),
    }
}

fn bytes(path: &Path, kind: &str, most_bytes: u64) -> Result<Vec<u8>, Failure> {
    let wrong = |what: String| Failure::usage(format!("{kind} {}: {what}", path.display()));
    if path.is_dir() {
        return Err(wrong(match kind {
            "suite" => {
                "is a directory; name a suite file, or load the directory with --target".to_owned()
            }
            kind => format!("is a directory; name a {kind} file"),
        }));
    }
    plain_file::read(path, most_bytes).map_err(|error| {
        let most = most_bytes >> 20;
        match error.kind() {
            ErrorKind::InvalidInput | ErrorKind::FileTooLarge => {
                wrong(format!("is no text file of at most {most} MiB; name a {kind} file"))
            }
            ErrorKind::PermissionDenied => wrong(format!("{error}; check your permissions on it")),
            _ => wrong(format!("{error}; {}", way_out(path, kind))),
        }
    })
}

/// What to do about a file that cannot be looked at: a path where a suite should stand is often the
/// place that somebody wants to load.
fn way_out(path: &Path, kind: &str) -> &'static str {
    match kind == "suite" && path.extension().is_none() {
        true => "check the path of the suite file; a path to load goes behind --target",
        false => "check the path",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_windows_are_read() {
        assert_eq!(decoded(b"\xff\xfea\0b\0"), "ab");
        assert_eq!(decoded(b"\xfe\xff\0a\0b\0"), "ab");
        assert_eq!(decoded(b"\xef\xbb\xbfab"), "ab");
        assert_eq!(decoded(b"a\xffb"), "a\u{fffd}b");
        assert_eq!(decoded(b"\xff\xfe"), "");
    }

    #[test]
    fn a_place_where_a_suite_should_stand_is_led_to_its_option() {
        let place = way_out(Path::new("/tmp/nowhere"), "suite");
        assert!(place.contains("--target"), "{place}");
        assert_eq!(way_out(Path::new("my.toml"), "suite"), "check the path");
        assert_eq!(way_out(Path::new("/tmp/nowhere"), "testbed"), "check the path");
    }
}
