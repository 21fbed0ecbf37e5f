//! Marks from other shells: a Unix socket beside the run file while the run goes on, which only its
//! user may speak to.
//!
//! One line of JSON each way: `{"label": …, "ago_ns": …}`, and `{"ok": true, "mark": …}` or
//! `{"error": …}`.

use fleet::{Marked, Marker};
use model::occurrence::MOST_LABEL_BYTES;
use model::{Occurrence, Plan};
use report::ground;
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A question and an answer have at most so many bytes; a label of [`MOST_LABEL_BYTES`] fits in
/// several times over.
const MOST_LINE_BYTES: usize = 4096;
/// How long either side waits for the other in all.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a run may take to record a mark before its caller is told without the place: less than
/// its own patience.
const RECORDED_WITHIN: Duration = Duration::from_secs(1);
/// A mark cannot be of longer ago: it is set when something happens.
const MOST_AGO: Duration = Duration::from_secs(60);

#[derive(Debug, Serialize, Deserialize)]
struct Ask {
    label: String,
    /// How long before it asked the caller was called, in ns.
    ago_ns: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Answer {
    ok: bool,
    error: String,
    mark: Option<Mark>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Mark {
    /// What was written: one line, without what no terminal should be sent.
    pub(crate) label: String,
    /// The number of the stage that ran then, from 0; `None` between stages.
    pub(crate) stage: Option<u32>,
    /// What that stage is called; empty between stages, and for a point that a search found.
    pub(crate) stage_name: String,
    /// When, in ns after the stage was started: the axis of the samples. 0 between stages.
    pub(crate) at_ns: u64,
    /// Wall-clock time, in ns since 1970.
    pub(crate) unix_ns: u64,
}

impl Mark {
    fn of(recorded: Occurrence, stages: &[String]) -> Mark {
        let name = recorded
            .stage
            .and_then(|stage| stages.get(stage as usize))
            .cloned()
            .unwrap_or_default();
        let Occurrence { label, stage, at_ns, unix_ns, .. } = recorded;
        Mark { label, stage, stage_name: name, at_ns, unix_ns }
    }
}

/// Takes marks until it is dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    place: PathBuf,
    identity: (u64, u64),
}

impl Listener {
    /// Listens beside the run file at `run`. Where that is not possible, the run goes on without,
    /// and it is said. `stages` are the names of its stages.
    pub(crate) fn start(run: &Path, marker: Marker, stages: Vec<String>) -> Option<Listener> {
        let place = place(run);
        match listen(&place) {
            Ok(listener) => {
                let serve = move || {
                    for stream in listener.incoming() {
                        match stream {
                            Ok(stream) => serve(stream, &marker, &stages),
                            // Out of open files, most likely: it gets better when somebody closes
                            // one.
                            Err(_) => std::thread::sleep(Duration::from_millis(50)),
                        }
                    }
                };
                // The thread waits for callers until the process ends; without the name nobody
                // finds it.
                std::thread::Builder::new().name("marks".to_owned()).spawn(serve).ok()?;
                let identity =
                    std::fs::symlink_metadata(&place).map(|meta| identity(&meta)).ok()?;
                Some(Listener { place, identity })
            }
            Err(error) => {
                eprintln!(
                    "warning: `plimsoll mark` will not work: {}: {error}; the run goes on",
                    place.display()
                );
                None
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // If it stays, it is a name that nobody answers to, and `plimsoll mark` says so.
        if std::fs::symlink_metadata(&self.place).is_ok_and(|meta| identity(&meta) == self.identity)
        {
            let _ = std::fs::remove_file(&self.place);
        }
    }
}

/// What tells a socket from whatever somebody puts in its place.
fn identity(meta: &std::fs::Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}

fn is_socket(place: &Path) -> bool {
    std::fs::symlink_metadata(place).is_ok_and(|meta| meta.file_type().is_socket())
}

pub(crate) fn stage_names(plan: &Plan) -> Vec<String> {
    plan.stages.iter().map(|stage| ground::stage::name(plan, stage)).collect()
}

/// The socket's name: `RUN.marks`.
fn place(run: &Path) -> PathBuf {
    let mut name = run.as_os_str().to_owned();
    name.push(".marks");
    PathBuf::from(name)
}

/// A socket at `place`, of any length. The kernel takes 107 bytes of a socket's name, so it is made
/// in its folder under a short one, and renamed.
fn listen(place: &Path) -> std::io::Result<UnixListener> {
    match std::fs::symlink_metadata(place) {
        Ok(meta) if !meta.file_type().is_socket() => return Err(ErrorKind::AlreadyExists.into()),
        // Another run is at it, or a program of somebody.
        Ok(_) if connect(place).is_ok() => return Err(ErrorKind::AddrInUse.into()),
        _ => {}
    }
    let folder =
        place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let open = File::open(folder)?;
    let short = format!(".plimsoll-marks-{}", std::process::id());
    let made = folder.join(&short);
    // Ours, of a process of this number that was killed. Anything else of that name is somebody's,
    // and the socket is not made.
    if is_socket(&made) {
        let _ = std::fs::remove_file(&made);
    }
    let listener = UnixListener::bind(format!("/proc/self/fd/{}/{short}", open.as_raw_fd()))?;
    let named = std::fs::set_permissions(&made, std::fs::Permissions::from_mode(0o600))
        .and_then(|()| put(&made, place));
    named.inspect_err(|_| {
        let _ = std::fs::remove_file(&made);
    })?;
    Ok(listener)
}

/// Gives the socket its name. A dead one of that name goes; what somebody has put there meanwhile
/// stays.
fn put(made: &Path, place: &Path) -> std::io::Result<()> {
    if is_socket(place) {
        std::fs::remove_file(place)?;
    }
    match renameat_with(CWD, made, CWD, place, RenameFlags::NOREPLACE) {
        // Network file systems know no such renaming.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) if !place.exists() => {
            std::fs::rename(made, place)
        }
        result => Ok(result?),
    }
}

fn serve(mut stream: UnixStream, marker: &Marker, stages: &[String]) {
    let came = Instant::now();
    let marked =
        read_line(&mut stream, came).and_then(|line| asked(&line)).and_then(|(label, ago)| {
            match marker.mark_and_wait(&label, ago.saturating_add(came.elapsed()), RECORDED_WITHIN)
            {
                Marked::Recorded(mark) => Ok(Some(Mark::of(*mark, stages))),
                Marked::Taken => Ok(None),
                Marked::Full => Err("the run has as many marks and findings as a run can have, \
                                     and takes no more"
                    .to_owned()),
                Marked::Over => Err("the run is over".to_owned()),
            }
        });
    let answer = match marked {
        Ok(mark) => Answer { ok: true, mark, ..Answer::default() },
        Err(error) => Answer { error, ..Answer::default() },
    };
    // A caller that is gone has its mark all the same.
    let _ = stream.set_write_timeout(Some(PATIENCE));
    let _ =
        serde_json::to_string(&answer).map(|line| stream.write_all(format!("{line}\n").as_bytes()));
}

/// One line, in bounded time and of bounded length.
fn read_line(stream: &mut UnixStream, came: Instant) -> Result<String, String> {
    let mut line = Vec::new();
    let mut buffer = [0; 512];
    while !line.contains(&b'\n') {
        let left = PATIENCE.saturating_sub(came.elapsed());
        if left.is_zero() || line.len() > MOST_LINE_BYTES {
            return Err("no line of at most 4 KiB came in time".to_owned());
        }
        let read = stream.set_read_timeout(Some(left)).and_then(|()| stream.read(&mut buffer));
        match read {
            Ok(0) => break,
            Ok(count) => line.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("nothing to read: {error}")),
        }
    }
    String::from_utf8(line).map_err(|_| "it is not UTF-8 text".to_owned())
}

fn asked(line: &str) -> Result<(String, Duration), String> {
    let ask: Ask = serde_json::from_str(line.trim())
        .map_err(|error| format!("it is not understood: {error}"))?;
    check(&ask.label)?;
    Ok((ask.label, Duration::from_nanos(ask.ago_ns).min(MOST_AGO)))
}

pub(crate) fn check(label: &str) -> Result<(), String> {
    match label.trim().len() {
        0 => Err("a mark needs a text; say what happened".to_owned()),
        length if length > MOST_LABEL_BYTES => {
            Err(format!("the text has {length} bytes; say it in {MOST_LABEL_BYTES}"))
        }
        _ => Ok(()),
    }
}

/// Removes the socket that a killed run left beside its file: one that nobody answers to any more.
pub(crate) fn clear(run: &Path) {
    let place = place(run);
    if is_socket(&place)
        && connect(&place).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    {
        // If it stays, it does no harm.
        let _ = std::fs::remove_file(&place);
    }
}

/// Through its descriptor, because its name may be longer than the kernel takes.
fn connect(place: &Path) -> std::io::Result<UnixStream> {
    let socket = rustix::fs::open(place, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    UnixStream::connect(format!("/proc/self/fd/{}", socket.as_raw_fd()))
}

/// The names under which a run that was cut short is recorded when it goes on, unless told
/// otherwise: the first that nothing has.
pub(crate) fn resumed_names(run: &Path) -> impl Iterator<Item = PathBuf> {
    let stem = run.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    (1..=10_000).map(move |number| {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        run.with_file_name(format!("{stem}-resumed{number}.plimsoll"))
    })
}

/// The file in which a run that was cut short goes on just now, if it does.
fn resumed(run: &Path) -> Option<PathBuf> {
    resumed_names(run).take_while(|name| name.exists()).find(|name| connect(&place(name)).is_ok())
}

/// Sets a mark in the run that is recorded at `run`, at the instant `called`. What stands in the
/// record; `None` where the run took the mark and is slow to record it.
pub(crate) fn send(run: &Path, label: &str, called: Instant) -> Result<Option<Mark>, String> {
    let place = place(run);
    let nobody = |why: &str| {
        format!("{why}; a mark can be set while a run goes on, on the machine that started it")
    };
    let wrong = |error: std::io::Error| match (resumed(run), error.kind()) {
        (Some(resumed), _) => format!("the run goes on in {}; mark that", resumed.display()),
        (None, ErrorKind::NotFound) if run.exists() => nobody("the run is over, or takes no marks"),
        (None, ErrorKind::NotFound) => nobody("there is no such run file"),
        (None, ErrorKind::ConnectionRefused) => nobody("nobody answers: the run was killed"),
        (None, ErrorKind::PermissionDenied) => {
            "the run is another user's; call this as the one who started it".to_owned()
        }
        (None, _) => format!("the run cannot be reached: {error}"),
    };
    let mut stream = connect(&place).map_err(wrong)?;
    let ago_ns = u64::try_from(called.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let ask = serde_json::to_string(&Ask { label: label.to_owned(), ago_ns })
        .map_err(|error| error.to_string())?;
    stream.write_all(format!("{ask}\n").as_bytes()).map_err(wrong)?;
    let line = read_line(&mut stream, Instant::now())?;
    let answer: Answer = serde_json::from_str(line.trim())
        .map_err(|_| nobody("the run gave no answer: it may have just ended"))?;
    if answer.ok { Ok(answer.mark) } else { Err(answer.error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet::Fleet;

    #[test]
    fn a_mark_tells_the_stage_by_its_name_where_it_has_one() {
        let at = |stage| Occurrence {
            stage,
            at_ns: 5,
            ..Occurrence::new(model::OccurrenceKind::Mark, "m\u{1b}")
        };
        let names = ["w · prepare".to_owned()];
        let mark = Mark::of(at(Some(0)), &names);
        assert_eq!(
            (mark.label.as_str(), mark.stage_name.as_str(), mark.at_ns),
            ("m", "w · prepare", 5)
        );
        assert_eq!(Mark::of(at(Some(9)), &names).stage_name, "");
        assert_eq!(
            (Mark::of(at(None), &names).stage, Mark::of(at(None), &names).stage_name),
            (None, String::new())
        );
    }

    fn ask(place: &Path, bytes: &[u8]) -> String {
        let mut stream = UnixStream::connect(place).expect("a socket");
        // A listener that has heard enough does not read to the end, and closes on us once it
        // answered.
        let _ = stream.write_all(bytes);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn a_mark_comes_through_and_nonsense_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = folder.path().join("r.plimsoll");
        let fleet = Fleet::local("test");
        let listener = Listener::start(&run, fleet.marker(), Vec::new()).expect("a listener");
        assert_eq!(
            send(&run, "migration started", Instant::now()),
            Ok(None),
            "taken by a fleet that has not begun"
        );
        let mode = std::fs::metadata(place(&run)).expect("a socket").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        for (bytes, told) in [
            (&b"nonsense\n"[..], "not understood"),
            (b"{\"label\": \" \", \"ago_ns\": 0}\n", "needs a text"),
            (b"{\"label\": \"x\", \"ago_ns\": -1}\n", "not understood"),
            (b"\xff\n", "UTF-8"),
            (&[b'x'; 9_000], "4 KiB"),
        ] {
            let answer = ask(&place(&run), bytes);
            assert!(answer.contains(told) && answer.contains("\"ok\":false"), "{answer}");
        }
        assert!(
            send(&run, &"x".repeat(201), Instant::now()).expect_err("too long").contains("200")
        );
        drop(fleet);
        assert_eq!(send(&run, "late", Instant::now()), Err("the run is over".to_owned()));
        drop(listener);
        assert!(
            send(&run, "later", Instant::now()).expect_err("no run").contains("no such run file")
        );
        std::fs::write(&run, "").expect("room");
        assert!(send(&run, "later", Instant::now()).expect_err("over").contains("the run is over"));
    }

    #[test]
    fn a_mark_for_a_run_that_was_cut_short_is_told_where_it_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = folder.path().join("r.plimsoll");
        let names: Vec<PathBuf> = resumed_names(&run).take(2).collect();
        for name in names.iter().chain([&run]) {
            std::fs::write(name, "").expect("room");
        }
        assert!(send(&run, "m", Instant::now()).expect_err("over").contains("the run is over"));
        let fleet = Fleet::local("test");
        let _listener = Listener::start(&names[1], fleet.marker(), Vec::new()).expect("a listener");
        assert!(
            send(&run, "m", Instant::now())
                .expect_err("elsewhere")
                .contains("r-resumed-2.plimsoll; mark that")
        );
    }

    #[test]
    fn a_long_name_works_and_a_dead_socket_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = folder.path().join(format!("{}.plimsoll", "n".repeat(200)));
        let fleet = Fleet::local("test");
        let _listener = Listener::start(&run, fleet.marker(), Vec::new()).expect("a listener");
        assert_eq!(
            send(&run, "m", Instant::now()),
            Ok(None),
            "taken by a fleet that has not begun"
        );
        let dead = folder.path().join("dead.plimsoll");
        drop(UnixListener::bind(place(&dead)).expect("a socket"));
        assert!(send(&dead, "m", Instant::now()).expect_err("dead").contains("killed"));
        clear(&run);
        assert!(place(&run).exists(), "one that is answered stays");
        assert!(
            Listener::start(&dead, fleet.marker(), Vec::new()).is_some(),
            "a dead socket is replaced"
        );
        drop(UnixListener::bind(folder.path().join("left.plimsoll.marks")).expect("a socket"));
        clear(&folder.path().join("left.plimsoll"));
        assert!(!folder.path().join("left.plimsoll.marks").exists(), "a dead one goes");
        let file = folder.path().join("file.plimsoll");
        std::fs::write(place(&file), "mine").expect("room");
        assert!(
            Listener::start(&file, fleet.marker(), Vec::new()).is_none(),
            "a file of somebody's is not"
        );
    }

    #[test]
    fn what_somebody_puts_in_a_sockets_place_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let (run, fleet) = (folder.path().join("r.plimsoll"), Fleet::local("test"));
        let short = folder.path().join(format!(".plimsoll-marks-{}", std::process::id()));
        std::fs::write(&short, "mine").expect("a file");
        assert!(Listener::start(&run, fleet.marker(), Vec::new()).is_none(), "the name is taken");
        assert_eq!(std::fs::read_to_string(&short).expect("a file"), "mine");
        std::fs::remove_file(&short).expect("gone");
        let listener = Listener::start(&run, fleet.marker(), Vec::new()).expect("a listener");
        assert!(
            Listener::start(&run, fleet.marker(), Vec::new()).is_none(),
            "one that is answered is another run's"
        );
        std::fs::remove_file(place(&run)).expect("gone");
        std::fs::write(place(&run), "mine").expect("a file");
        drop(listener);
        assert_eq!(std::fs::read_to_string(place(&run)).expect("a file"), "mine");
    }
}
