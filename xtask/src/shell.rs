//! Running other programs, and finding the workspace.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a chore ends with: its product, or one line of what, where and the remedy.
pub type Outcome<T> = Result<T, String>;

/// The root of the workspace.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The cargo that started this program, run in the root of the workspace.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs `command` with its output shown.
///
/// # Errors
/// It cannot be started, or ends with another code than 0.
pub fn show(command: &mut Command) -> Outcome<()> {
    let status =
        command.stdin(Stdio::null()).status().map_err(|error| not_started(command, &error))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` ended with {status}", line(command))) }
}

/// Runs `command` and returns what it wrote to its standard output.
///
/// # Errors
/// It cannot be started, ends with another code than 0 (with the end of its standard error), or
/// writes no UTF-8.
pub fn capture(command: &mut Command) -> Outcome<String> {
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        let tail: Vec<&str> = complaint.lines().rev().take(5).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        return Err(format!(
            "`{}` ended with {}: {}",
            line(command),
            output.status,
            tail.join(" | ")
        ));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| format!("`{}` wrote something that is not UTF-8", line(command)))
}

fn not_started(command: &Command, error: &std::io::Error) -> String {
    format!("`{}` cannot be started: {error}", line(command))
}

/// What went wrong with a file or a folder, in words.
pub fn at<P: AsRef<Path> + ?Sized>(place: &P) -> impl Fn(std::io::Error) -> String {
    let place = place.as_ref().display().to_string();
    move |error| format!("{place}: {error}")
}

/// The folder `path`, which is made where it is not there.
///
/// # Errors
/// It cannot be made.
pub fn folder(path: PathBuf) -> Outcome<PathBuf> {
    std::fs::create_dir_all(&path).map_err(at(&path)).map(|()| path)
}

/// Holds two files together, byte by byte.
///
/// # Errors
/// They differ, or one cannot be read.
pub fn same(one: &Path, other: &Path) -> Outcome<()> {
    let read = |path: &Path| std::fs::read(path).map_err(at(&path));
    if read(one)? == read(other)? {
        return Ok(());
    }
    Err(format!("{} and {} differ", one.display(), other.display()))
}

/// The command as one would type it.
pub fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    words.join(" ")
}

/// Where `program` is on the PATH or among the administrator's programs, which a plain user's PATH
/// leaves out.
pub fn which(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let extra = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(extra)
        .map(|folder| folder.join(program))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Whether this process runs as root.
pub fn is_root() -> bool {
    // Files under /proc/self belong to the effective user.
    use std::os::unix::fs::MetadataExt;
    Path::new("/proc/self").metadata().is_ok_and(|meta| meta.uid() == 0)
}

/// Whether a continuous integration runs this: there, nothing may be left out in silence.
pub fn in_ci() -> bool {
    is_set(std::env::var_os("CI").as_deref())
}

fn is_set(value: Option<&OsStr>) -> bool {
    value.is_some_and(|value| !value.is_empty() && value != "0" && value != "false")
}

/// The target directory of this build.
///
/// # Errors
/// `cargo metadata` does not run.
pub fn target_dir() -> Outcome<PathBuf> {
    if let Some(dir) = std::env::var_os("CARGO_TARGET_DIR") {
        return Ok(root().join(dir));
    }
    let text = capture(cargo().args(["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
    metadata["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .ok_or_else(|| "cargo metadata names no target directory; update cargo".to_owned())
}

/// Builds `plimsoll` as it is handed out, all of it optimised, and returns where it is.
///
/// # Errors
/// It does not compile.
pub fn build_plimsoll() -> Outcome<PathBuf> {
    show(cargo().args(["build", "--profile=dist", "--locked", "--package", "cli"]))?;
    let binary = target_dir()?.join("dist/plimsoll");
    if binary.is_file() {
        Ok(binary)
    } else {
        Err(format!("{} was not built; check the [[bin]] of crates/cli", binary.display()))
    }
}

/// Builds the optimised example `name` of `package` and returns where it is.
///
/// # Errors
/// It does not compile.
pub fn build_example(package: &str, name: &str) -> Outcome<PathBuf> {
    show(
        cargo()
            .args(["build", "--profile=dist", "--locked", "--package", package, "--example", name]),
    )?;
    Ok(target_dir()?.join("dist/examples").join(name))
}

/// Has `cargo test` build the tests of one target, and returns where their program is.
///
/// # Errors
/// They do not compile.
pub fn build_tests(cargo: &mut Command) -> Outcome<PathBuf> {
    let text = capture(cargo.args(["--no-run", "--message-format=json"]))?;
    test_program(&text).ok_or_else(|| format!("`{}` names no program; update cargo", line(cargo)))
}

/// The last program of tests in cargo's messages.
fn test_program(messages: &str) -> Option<PathBuf> {
    let messages =
        messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let tests = messages.filter(|message| message["profile"]["test"] == true);
    tests.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).next_back()
}

/// The triple of the machine that compiles, such as `x86_64-unknown-linux-gnu`.
///
/// # Errors
/// `rustc` does not run.
pub fn host_triple() -> Outcome<String> {
    let text = capture(
        Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV"),
    )?;
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| "rustc -vV names no host; update rustc".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_and_missing_ones_are_not() {
        assert!(which("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(which("no-such-program-anywhere"), None);
    }

    #[test]
    fn a_failure_names_the_command_and_the_end_of_its_complaint() {
        let error = capture(Command::new("sh").args(["-c", "echo why >&2; exit 3"])).unwrap_err();
        assert!(
            error.contains("sh -c") && error.contains('3') && error.ends_with("why"),
            "{error}"
        );
        assert!(
            show(&mut Command::new("no-such-program-anywhere"))
                .unwrap_err()
                .contains("cannot be started")
        );
    }

    #[test]
    fn the_program_of_tests_is_found_in_what_cargo_prints() {
        let messages = "{\"profile\":{\"test\":false},\"executable\":\"/no\"}\nno \
                        JSON\n{\"profile\":{\"test\":true},\"executable\":\"/t/fleet-1\"}\n{\"\
                        reason\":\"build-finished\"}";
        assert_eq!(test_program(messages), Some(PathBuf::from("/t/fleet-1")));
        assert_eq!(test_program("{}"), None);
    }

    #[test]
    fn an_empty_or_false_variable_is_not_set() {
        assert!(is_set(Some(OsStr::new("true"))) && is_set(Some(OsStr::new("1"))));
        assert!(
            !is_set(Some(OsStr::new("false"))) && !is_set(Some(OsStr::new(""))) && !is_set(None)
        );
    }
}
