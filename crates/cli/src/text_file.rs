//! Reads a file of text that a user names: a suite, a testbed, published figures.

use crate::failure::Failure;
use std::path::Path;

/// No such file is larger; what is was named by mistake, and is not read into memory.
const MOST_BYTES: u64 = 1 << 20;

/// The text of the file at `path`, which is to be a `kind` of file.
pub fn read(path: &Path, kind: &str) -> Result<String, Failure> {
    let wrong = |what: String| Failure::Usage(format!("error: {kind} {}: {what}", path.display()));
    if path.is_dir() {
        return Err(wrong(match kind {
            "suite" => {
                "is a directory; name a suite file, or load the directory with --target".to_owned()
            }
            kind => format!("is a directory; name a {kind} file"),
        }));
    }
    let metadata = std::fs::metadata(path)
        .map_err(|error| wrong(format!("{error}; {}", way_out(path, kind))))?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return Err(wrong(format!("is no text file of at most 1 MiB; name a {kind} file")));
    }
    let bytes = std::fs::read(path).map_err(|error| {
        let remedy = match error.kind() {
            std::io::ErrorKind::PermissionDenied => "check your permissions on it",
            _ => "see whether it can be read at all",
        };
        wrong(format!("{error}; {remedy}"))
    })?;
    String::from_utf8(bytes).map_err(|_| wrong(format!("is not UTF-8 text; name a {kind} file")))
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
    fn a_place_where_a_suite_should_stand_is_led_to_its_option() {
        let place = way_out(Path::new("/tmp/nowhere"), "suite");
        assert!(place.contains("--target"), "{place}");
        assert_eq!(way_out(Path::new("my.toml"), "suite"), "check the path");
        assert_eq!(way_out(Path::new("/tmp/nowhere"), "testbed"), "check the path");
    }
}
