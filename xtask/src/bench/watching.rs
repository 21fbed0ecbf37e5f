//! What it costs a run to be watched: the same run with and without somebody who looks, in turns,
//! on one processor that it keeps busy, so that all that looking costs is taken from the load.

use super::contender::{Measured, Programs, both};
use super::figures::{extremes, median, take_turns, thousands};
use super::options::Options;
use super::target::{Folder, Target};
use crate::shell::{self, Outcome};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Its name for `--only`.
pub const NAME: &str = "watching";
/// What it is about, in words.
pub const TITLE: &str = "what watching takes from one worker, 4 KiB random read, depth 32, on a \
                         page-cached file of 256 KiB, all on one processor";
/// The share of the load that is left to a run which is watched, at least.
const LEAST: f64 = 0.99;

/// How somebody looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Nobody does; samples and counters are recorded once a second, as always.
    Alone,
    /// Nobody does, but samples and counters are recorded ten times as often.
    Often,
    /// A reader of the live page, and a scrape of `/metrics` every second.
    Served,
    /// The view in a terminal of 120 × 40.
    Screen,
}

const WATCHED: [Way; 3] = [Way::Often, Way::Served, Way::Screen];

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Alone => "alone",
            Way::Often => "samples and counters ten times a second instead of once",
            Way::Served => "`--serve`, a reader of the page and a scrape a second",
            Way::Screen => "`--watch`, in a terminal of 120 × 40",
        }
    }

    /// What it adds to the command line.
    fn options(self) -> &'static str {
        match self {
            Way::Alone => "--quiet",
            Way::Often => "--quiet --set interval=100ms",
            Way::Served => "--quiet --serve=127.0.0.1:0",
            Way::Screen => "--watch",
        }
    }
}

/// The table, and the claims that it does not bear out.
///
/// # Errors
/// `taskset` or `script` is missing, or a run fails.
pub fn run(programs: &Programs, options: &Options) -> Outcome<(String, Vec<String>)> {
    for tool in ["taskset", "script"] {
        shell::which(tool).ok_or_else(|| format!("{tool} is not installed (util-linux has it)"))?;
    }
    let target = Target::cached_file()?;
    let mut pairs = Vec::new();
    for way in WATCHED {
        // Start-up and end are in it: what it costs to begin and to end a view is a part of
        // looking.
        let millis = options.seconds.saturating_mul(1000);
        let turns = take_turns(2, options.rounds, |who| {
            one([Way::Alone, way][who], &target, millis, options, programs)
        })?;
        let [alone, watched] = turns.try_into().map_err(|_| "two take turns")?;
        let pair = Pair { way, alone, watched };
        print!("{}", pair.row());
        pairs.push(pair);
    }
    let head = "| how | alone, I/Os per CPU-second | watched | watched ÷ alone, I/Os per \
                CPU-second | watched ÷ alone, IOPS | claimed |\n|---|---|---|---|---|---|\n";
    let rows: String = pairs.iter().map(Pair::row).collect();
    Ok((format!("{head}{rows}"), pairs.iter().filter_map(Pair::missed).collect()))
}

/// One way and its runs without, round by round.
struct Pair {
    way: Way,
    alone: Vec<Measured>,
    watched: Vec<Measured>,
}

impl Pair {
    fn ratio(&self, figure: fn(&Measured) -> f64) -> f64 {
        let middle = |results: &[Measured]| median(&results.iter().map(figure).collect::<Vec<_>>());
        middle(&self.watched) / middle(&self.alone)
    }

    /// The ratio of medians, and behind it the least and the largest of the rounds.
    fn spread(&self, figure: fn(&Measured) -> f64) -> String {
        let rounds: Vec<f64> = self
            .watched
            .iter()
            .zip(&self.alone)
            .map(|(one, other)| figure(one) / figure(other))
            .collect();
        let (low, high) = extremes(&rounds);
        format!("**{:.3}** ({low:.3} to {high:.3})", self.ratio(figure))
    }

    fn row(&self) -> String {
        let middle = |results: &[Measured]| {
            thousands(median(&results.iter().map(Measured::ios_per_cpu_s).collect::<Vec<_>>()))
        };
        let verdict = if self.missed().is_none() { "held" } else { "missed" };
        format!(
            "| {} | {} | {} | {} | {} | {LEAST} I/Os per CPU-second: {verdict} |\n",
            self.way.name(),
            middle(&self.alone),
            middle(&self.watched),
            self.spread(Measured::ios_per_cpu_s),
            self.spread(|result| result.iops),
        )
    }

    fn missed(&self) -> Option<String> {
        let ratio = self.ratio(Measured::ios_per_cpu_s);
        let is_held = ratio >= LEAST;
        (!is_held).then(|| {
            format!(
                "{NAME}: {ratio:.3} × alone with {} where {LEAST} × is claimed",
                self.way.name()
            )
        })
    }
}

/// One run of so many ms, looked at in this way.
fn one(
    way: Way,
    target: &Target,
    millis: u32,
    options: &Options,
    programs: &Programs,
) -> Outcome<Measured> {
    let folder = Folder(shell::folder(target.scratch.join("watching"))?);
    let [out, said, times] = ["out.json", "said", "times"].map(|name| folder.0.join(name));
    let line = format!(
        "taskset -c {} {} run --rw randread --bs 4k --iodepth 32 --numjobs 1 --json --existing \
         --buffered --set backend=io_uring --size {} --runtime {millis}ms --target {} --out {} {} \
         > {}",
        options.cpu,
        quoted(&programs.plimsoll),
        target.bytes,
        quoted(&target.path),
        quoted(&folder.0.join("run.plimsoll")),
        way.options(),
        quoted(&out)
    );
    let line = match way {
        // `script` holds the terminal; what it costs itself counts, too, and is little.
        Way::Screen => {
            let inside = format!("stty cols 120 rows 40; {line}");
            format!(
                "script -qec {} /dev/null > {} < /dev/null",
                quoted(Path::new(&inside)),
                quoted(&said)
            )
        }
        _ => format!("{line} 2> {}", quoted(&said)),
    };
    // `time` writes to the shell's own standard error.
    let words = format!("TIMEFORMAT='%U %S'; {{ time {{ {line}; }}; }} 2> {}", quoted(&times));
    let mut child = Command::new("bash")
        .args(["-o", "pipefail", "-c", &words])
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| format!("bash cannot be started: {error}"))?;
    let is_over = Arc::new(AtomicBool::new(false));
    let reader = (way == Way::Served).then(|| Reader::start(said.clone(), &is_over));
    let status = child.wait().map_err(|error| format!("bash is lost: {error}"))?;
    is_over.store(true, Ordering::SeqCst);
    let seen = reader.map_or(1, Reader::seen);
    let text = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    if !status.success() || (seen == 0 && millis >= 1_000) {
        return Err(format!(
            "`{line}` ended with {status}, {seen} bytes of its page were read: {}",
            text(&said)
        ));
    }
    measured(&text(&out), &text(&times))
        .ok_or_else(|| format!("`{line}` wrote `{}` and took `{}`", text(&out), text(&times)))
}

/// A path or a line as one word of a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

/// What a run wrote, and the times that the shell took of it.
fn measured(out: &str, times: &str) -> Option<Measured> {
    let json: serde_json::Value = serde_json::from_str(out).ok()?;
    let result = &json["results"][0];
    let (user_s, system_s) = both(times.trim().lines().last()?)?;
    Some(Measured {
        ios: result["ios"].as_f64()?,
        iops: result["iops"].as_f64()?,
        user_s,
        system_s,
    })
}

/// Somebody who looks at the page while it is there.
struct Reader(std::thread::JoinHandle<usize>);

impl Reader {
    /// Begins when the run has said where its page is, in the file `said`.
    fn start(said: PathBuf, is_over: &Arc<AtomicBool>) -> Reader {
        let is_over = Arc::clone(is_over);
        Reader(std::thread::spawn(move || {
            let mut address = None;
            while address.is_none() && !is_over.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(5));
                let text = fs::read_to_string(&said).unwrap_or_default();
                address = text
                    .split_once("http://")
                    .and_then(|(_, rest)| rest.split_once('/'))
                    .map(|(place, _)| place.to_owned());
            }
            address.map_or(0, |address| look(&address, &is_over))
        }))
    }

    /// Bytes that it read.
    fn seen(self) -> usize {
        self.0.join().unwrap_or(0)
    }
}

/// Hears what is new on the page, and scrapes every second, until the run is over.
fn look(address: &str, is_over: &AtomicBool) -> usize {
    let open = |path: &str| -> Option<TcpStream> {
        let mut stream = TcpStream::connect(address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(1))).ok()?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
            .ok()?;
        Some(stream)
    };
    let Some(mut events) = open("/events") else { return 0 };
    let (mut seen, mut buffer) = (0, vec![0; 1 << 16]);
    let mut scraped = std::time::Instant::now();
    while !is_over.load(Ordering::SeqCst) {
        match events.read(&mut buffer) {
            Ok(0) => break,
            Ok(bytes) => seen += bytes,
            Err(_) => {}
        }
        if scraped.elapsed() >= Duration::from_secs(1) {
            scraped = std::time::Instant::now();
            seen += open("/metrics")
                .map_or(0, |mut metrics| metrics.read_to_end(&mut Vec::new()).unwrap_or(0));
        }
    }
    seen
}

/// CPU time of one reading of all counters of a host with 64 CPUs and 100 disks, in % of a core at
/// one reading a second.
///
/// # Errors
/// The example does not compile or run.
pub fn probe_percent(_: &Programs, _seconds: u32) -> Outcome<f64> {
    // 10,000 µs are a hundredth of a second.
    probe().map(|(micros, _)| micros / 1e4)
}

/// Memory that these counters hold, in MiB.
///
/// # Errors
/// As [`probe_percent`].
pub fn probe_mib(_: &Programs, _seconds: u32) -> Outcome<f64> {
    probe().map(|(_, kib)| kib / 1024.0)
}

fn probe() -> Outcome<(f64, f64)> {
    let example = shell::build_example("probe", "cost")?;
    let text = shell::capture(&mut Command::new(example))?;
    cost(&text).ok_or_else(|| format!("the example says `{text}`"))
}

/// µs of a reading and KiB held, of the large host: the first line.
fn cost(text: &str) -> Option<(f64, f64)> {
    let line = text.lines().next()?;
    let behind = |mark: &str| {
        line.split_once(mark).and_then(|(before, _)| before.split(' ').next_back()?.parse().ok())
    };
    Some((behind(" µs")?, behind(" KiB")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_judged_by_the_ratio_of_its_medians() {
        let results = |ios: [f64; 3]| {
            ios.map(|ios| Measured { ios, iops: ios, user_s: 0.5, system_s: 0.5 }).to_vec()
        };
        let mut pair = Pair {
            way: Way::Served,
            alone: results([1000.0, 990.0, 1010.0]),
            watched: results([995.0, 999.0, 900.0]),
        };
        assert!(
            pair.row().contains("**0.995** (0.891 to 1.009)") && pair.row().contains(": held"),
            "{}",
            pair.row()
        );
        assert_eq!(pair.missed(), None);
        pair.watched = results([980.0, 985.0, 1000.0]);
        let missed = pair.missed().expect("a miss");
        assert!(
            missed.starts_with("watching: 0.985") && pair.row().contains(": missed"),
            "{missed}"
        );
    }

    #[test]
    fn what_programs_say_is_read() {
        let out = "{\"results\": [{\"ios\": 200, \"iops\": 100.0}]}";
        let read = measured(out, "a warning\n0.25 0.75\n").expect("good");
        assert_eq!((read.ios, read.iops, read.ios_per_cpu_s()), (200.0, 100.0, 200.0));
        assert!(measured("", "0.1 0.1").is_none() && measured(out, "").is_none());
        let said = "64 CPUs, 100 disks (files): 770 µs of CPU for a reading, 300 things, 2579 \
                    values, 300 KiB\nthis host: 1 µs";
        assert_eq!(cost(said), Some((770.0, 300.0)));
        assert_eq!(cost("nothing"), None);
        assert_eq!(quoted(Path::new("/a b/it's")), "'/a b/it'\\''s'");
    }
}
