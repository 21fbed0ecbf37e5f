//! What the caches of this host's Ceph OSDs had, by their admin sockets
//! (`/var/run/ceph/ceph-osd.*.asok`; Ceph's documentation, "Admin socket" and "Perf counters"):
//! bytes that BlueStore's buffers had and had not. A command is JSON that ends with a zero byte;
//! the answer is its length in four bytes, big-endian, and JSON (`src/common/admin_socket.cc`).
//! Needs root, or the group of Ceph.

use super::Source;
use super::file::Opener;
use super::parse::number;
use super::table::{Column, Table};
use model::CounterSample;
use model::counters::{Layer, Metric};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// OSDs of a host that are asked, at most.
const MOST: usize = 64;
/// The counters of one subsystem are a page of text.
const LONGEST_ANSWER: u32 = 1 << 20;
/// An OSD that answers no faster is not asked again.
const PATIENCE: Duration = Duration::from_millis(100);
/// They are not asked more often: each answer costs the OSD some time.
const EVERY: Duration = Duration::from_secs(1);
const COMMAND: &[u8] = b"{\"prefix\": \"perf dump\", \"logger\": \"bluestore\"}\0";

/// The OSDs that answered when we began.
pub struct CephOsds {
    osds: Vec<Osd>,
    asked: Option<Instant>,
    table: Table,
}

struct Osd {
    socket: PathBuf,
    name: String,
    /// Bytes that its buffers had, and had not, when it was asked last; `None` once it did not
    /// answer.
    counts: Option<(u64, u64)>,
}

impl CephOsds {
    pub fn new(opener: &mut Opener) -> CephOsds {
        let names =
            if opener.tree().is_real() { opener.tree().names("run/ceph") } else { Vec::new() };
        let sockets = names.iter().map(|name| Path::new("/run/ceph").join(name));
        CephOsds::at(sockets)
    }

    fn at(sockets: impl Iterator<Item = PathBuf>) -> CephOsds {
        let mut osds: Vec<Osd> = Vec::new();
        for socket in sockets {
            let osd = socket.file_name().and_then(|name| name.to_str()).and_then(name_of);
            let counts = osd.as_ref().and_then(|_| ask(&socket));
            if let (Some(name), Some(counts)) = (osd, counts) {
                osds.push(Osd { socket, name, counts: Some(counts) });
            }
            if osds.len() == MOST {
                break;
            }
        }
        let columns = [Metric::Hits, Metric::Misses].map(Column::plain).to_vec();
        CephOsds { osds, asked: None, table: Table::new(Layer::Cache, columns) }
    }
}

/// `ceph osd.3` of `ceph-osd.3.asok`, also with another cluster's name in front.
fn name_of(file: &str) -> Option<String> {
    let (_, number) = file.strip_suffix(".asok")?.rsplit_once("-osd.")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("ceph osd.{number}"))
}

impl Source for CephOsds {
    fn read(&mut self, _: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        if self.osds.is_empty() {
            return None;
        }
        let now = Instant::now();
        if self.asked.is_none_or(|asked| now.duration_since(asked) >= EVERY) {
            self.asked = Some(now);
            for osd in self.osds.iter_mut().filter(|osd| osd.counts.is_some()) {
                osd.counts = ask(&osd.socket);
            }
        }
        for osd in &self.osds {
            if let Some((hits, misses)) = osd.counts {
                self.table.put(osd.name.as_bytes(), &[Some(hits), Some(misses)], sample);
            }
        }
        self.table.end(sample);
        None
    }
}

/// What an OSD's buffers had and had not until now, in bytes; `None` where it does not say.
fn ask(socket: &Path) -> Option<(u64, u64)> {
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(COMMAND).ok()?;
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let length = u32::from_be_bytes(length);
    if length > LONGEST_ANSWER {
        return None;
    }
    let mut answer = vec![0; length as usize];
    stream.read_exact(&mut answer).ok()?;
    // Since Ceph 17 the names have no prefix.
    let of =
        |name: &str| field(&answer, name).or_else(|| field(&answer, &format!("bluestore_{name}")));
    of("buffer_hit_bytes").zip(of("buffer_miss_bytes"))
}

/// The number of a field of a JSON text, by its name in quotes.
fn field(json: &[u8], name: &str) -> Option<u64> {
    let quoted = format!("\"{name}\"");
    let at = json.windows(quoted.len()).position(|window| window == quoted.as_bytes())?;
    let rest = json.get(at + quoted.len()..)?.trim_ascii_start().strip_prefix(b":")?;
    let rest = rest.trim_ascii_start();
    let end = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    number(rest.get(..end)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;
    use std::thread;

    /// The form of `ceph daemon osd.0 perf dump bluestore`; the figures are made up.
    fn dump(prefix: &str, hits: u64, misses: u64) -> String {
        format!(
            "{{\n    \"bluestore\": {{\n        \"kv_flush_lat\": {{\n            \"avgcount\": \
             5,\n            \"sum\": 0.5\n        }},\n        \"{prefix}buffer_bytes\": \
             4096,\n        \"{prefix}buffer_hit_bytes\": {hits},\n        \
             \"{prefix}buffer_miss_bytes\": {misses}\n    }}\n}}\n"
        )
    }

    /// An OSD that gives these answers, one after the other.
    fn osd(socket: &Path, answers: Vec<Vec<u8>>) -> thread::JoinHandle<Vec<Vec<u8>>> {
        let listener = UnixListener::bind(socket).expect("a socket");
        thread::spawn(move || {
            let answer = |answer: Vec<u8>| {
                let (mut stream, _) = listener.accept().expect("a question");
                let mut asked = vec![0; COMMAND.len()];
                stream.read_exact(&mut asked).expect("a command");
                // Who has gone away needs no answer.
                let _ = stream.write_all(&answer);
                asked
            };
            answers.into_iter().map(answer).collect()
        })
    }

    fn framed(text: &str) -> Vec<u8> {
        [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat()
    }

    #[test]
    fn what_an_osds_buffers_had_in_an_interval_is_in_the_sample() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("ceph-osd.3.asok");
        let answers = vec![
            framed(&dump("bluestore_", 1_000, 100)),
            framed(&dump("bluestore_", 5_000, 100)),
            framed(&dump("", 6_000, 1_100)),
        ];
        let answering = osd(&socket, answers);
        let (_tree, tree) = crate::tree::testing::tree(&[]);
        let mut opener = Opener::new(&tree);
        let mut osds = CephOsds::at([socket].into_iter());
        osds.read(&mut opener, &mut CounterSample::default());
        osds.asked = None;
        let mut sample = CounterSample::default();
        osds.read(&mut opener, &mut sample);
        let get = |metric| sample.get(Layer::Cache, "ceph osd.3", metric);
        assert_eq!((get(Metric::Hits), get(Metric::Misses)), (Some(1_000), Some(1_000)));
        let asked = answering.join().expect("no panic");
        assert!(asked.iter().all(|asked| asked == COMMAND), "{asked:?}");
        // It is gone: nothing is counted, and nobody waits.
        osds.asked = None;
        let mut sample = CounterSample::default();
        osds.read(&mut opener, &mut sample);
        assert!(sample.entries.is_empty(), "{sample:?}");
    }

    #[test]
    fn answers_that_are_none_count_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let huge = [&u32::MAX.to_be_bytes()[..], b"{"].concat();
        for (number, answer) in
            [huge, framed("{}"), framed("{\"buffer_hit_bytes\": -1}"), b"\0\0".to_vec()]
                .into_iter()
                .enumerate()
        {
            let socket = folder.path().join(format!("ceph-osd.{number}.asok"));
            let answering = osd(&socket, vec![answer]);
            assert_eq!(ask(&socket), None, "{number}");
            answering.join().expect("no panic");
        }
        assert_eq!(name_of("my-osd.12.asok").as_deref(), Some("ceph osd.12"));
        for other in ["ceph-mon.a.asok", "ceph-osd..asok", "ceph-osd.1", "ceph-osd.x.asok"] {
            assert_eq!(name_of(other), None, "{other}");
        }
    }
}
