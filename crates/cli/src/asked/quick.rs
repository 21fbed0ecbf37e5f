//! fio's words for one workload, turned into a suite: there is one path for all runs.

use crate::args::{Pattern, QuickArgs};
use form::{Amount, Override};
use model::{Bytes, Nanos, Percent};
use std::fmt::Write;
use suite::{Scenario, Spec};

pub(crate) fn suite(pattern: Pattern, quick: &QuickArgs) -> String {
    let mixed = quick.rwmixread.unwrap_or(Percent::of(50));
    let (access, read) = match pattern {
        Pattern::Read => ("sequential", Percent::ALL),
        Pattern::Write => ("sequential", Percent::ZERO),
        Pattern::Randread => ("random", Percent::ALL),
        Pattern::Randwrite => ("random", Percent::ZERO),
        Pattern::Rw => ("sequential", mixed),
        Pattern::Randrw => ("random", mixed),
    };
    let block_size = quick.bs.unwrap_or(Bytes(4096));
    let workers = quick.numjobs.unwrap_or(1);
    let depth = quick.iodepth.unwrap_or(1);
    let name = quick.name.clone().unwrap_or_else(|| {
        let mut name = word(pattern).to_owned();
        if matches!(pattern, Pattern::Rw | Pattern::Randrw) {
            let _ = write!(name, " {mixed}");
        }
        let _ = write!(name, " {} QD{depth}×{workers}", fio_size(block_size));
        if let Some(rate) = quick.rate {
            let _ = write!(name, " at {rate}");
        }
        name
    });
    let mut text = format!("name = {}\n\n[layout]\nfiles = {workers}\n", quoted(&name));
    // Writing to a String cannot fail.
    if let Some(size) = quick.size {
        let _ = writeln!(text, "size = {}", size.0);
    }
    let measure = quick.runtime.unwrap_or(Nanos::seconds(60));
    let _ = writeln!(text, "\n[stages]\nmeasure = \"{}\"", milliseconds(measure));
    let _ = writeln!(text, "interval = \"{}\"", milliseconds(interval(measure)));
    if let Some(ramp) = quick.ramp {
        let _ = writeln!(text, "precondition = \"{}\"", milliseconds(ramp));
    }
    if quick.verify.is_some() {
        text.push_str("\n[contents]\nverify = \"after\"\n");
    }
    // The name of fio's job is that of its row.
    let is_plain =
        |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let named =
        quick.name.as_deref().filter(is_plain).filter(|name| (1..=60).contains(&name.len()));
    let _ = write!(
        text,
        "\n[[workload]]\nname = \"{}\"\nblock_size = {}\nread = \"{read}\"\naccess = \
         \"{access}\"\ndepth = {depth}\nworkers = {workers}\n",
        named.unwrap_or(word(pattern)),
        block_size.0,
    );
    if let Some(rate) = quick.rate {
        let _ = writeln!(text, "rate = \"{rate}\"");
    }
    if quick.dsync {
        text.push_str("dsync = true\n");
    }
    text
}

/// What words beside a suite or a job change in it, before any `--set`. `spec` is the suite without
/// them.
pub(crate) fn sets(quick: &QuickArgs, spec: &Spec) -> Vec<Override> {
    let mut all = Vec::new();
    let mut set = |field: &str, value: Option<String>| {
        all.extend(value.and_then(|value| format!("{field}={value}").parse::<Override>().ok()));
    };
    set("block_size", quick.bs.map(|size| size.0.to_string()));
    set("depth", quick.iodepth.map(|depth| depth.to_string()));
    set("workers", quick.numjobs.map(|workers| workers.to_string()));
    set("layout.size", quick.size.map(|size| size.0.to_string()));
    set("stages.measure", quick.runtime.map(milliseconds));
    let has_amount = |scenario: &Scenario| scenario.stages.amount.value != Amount::None;
    let is_by_amount = quick.runtime.is_some() && spec.scenarios().iter().any(has_amount);
    set("stages.amount", is_by_amount.then(|| "none".to_owned()));
    set("stages.precondition", quick.ramp.map(milliseconds));
    set("read", quick.rwmixread.map(|share| share.to_string()));
    set("rate", quick.rate.map(|rate| quoted(&rate.to_string())));
    set("rate_of", quick.rate.map(|_| "all".to_owned()));
    set("dsync", quick.dsync.then(|| "true".to_owned()));
    set("contents.verify", quick.verify.as_ref().map(|_| quoted("after")));
    set("name", quick.name.as_deref().map(quoted));
    // A short measurement has as many intervals as a long one.
    let shorter = quick.runtime.map(interval).filter(|interval| {
        spec.scenarios().iter().any(|scenario| scenario.stages.interval.value > *interval)
    });
    set("stages.interval", shorter.map(milliseconds));
    all
}

/// So many intervals of a short measurement say how far chance moves its figures.
const INTERVALS: u64 = 40;
const LEAST_INTERVAL: Nanos = Nanos(10_000_000);

pub(crate) fn interval(measure: Nanos) -> Nanos {
    Nanos((measure.0 / INTERVALS).clamp(LEAST_INTERVAL.0, Nanos::seconds(1).0))
}

pub(crate) fn milliseconds(time: Nanos) -> String {
    format!("{}ms", time.0 / 1_000_000)
}

/// A string of TOML: JSON's are such.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A block size as fio's users write it: 4k, 1m, 512.
fn fio_size(size: Bytes) -> String {
    match size.0 {
        bytes if bytes >= 1 << 20 && bytes % (1 << 20) == 0 => format!("{}m", bytes >> 20),
        bytes if bytes >= 1 << 10 && bytes % (1 << 10) == 0 => format!("{}k", bytes >> 10),
        bytes => bytes.to_string(),
    }
}

fn word(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::Read => "read",
        Pattern::Write => "write",
        Pattern::Randread => "randread",
        Pattern::Randwrite => "randwrite",
        Pattern::Rw => "rw",
        Pattern::Randrw => "randrw",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use clap::Parser;
    use form::{Auto, Depth};
    use model::choices::Access;
    use model::load::{Rate, SizeMix};
    use model::offered::Offered;
    use suite::Verify;

    #[test]
    fn what_a_fio_users_hands_type_is_a_good_suite() {
        let line = "plimsoll run --rw randread --bs 4k --iodepth 32 --numjobs 4 --size 4G \
                    --runtime 60 /mnt/x";
        let Command::Run(run) = Arguments::parse_from(line.split(' ')).command else {
            panic!("a run")
        };
        let text = suite(run.work.quick.rw.expect("given"), &run.work.quick);
        let spec = Spec::parse("quick", &text, &[]).expect("a good suite");
        let workload = &spec.first_scenario().points[0].workloads[0];
        assert_eq!(workload.block_size.value, SizeMix::single(Bytes(4096)));
        assert_eq!(workload.depth.value, Depth(32));
        assert_eq!((workload.access.value, workload.read.value), (Access::Random, Percent::ALL));
        assert_eq!(spec.first_scenario().stages.measure.value, Nanos::seconds(60));
        let interval = |runtime: &str| {
            let runtime = Some(runtime.parse().expect(runtime));
            let text = suite(Pattern::Randread, &QuickArgs { runtime, ..QuickArgs::default() });
            let spec = Spec::parse("quick", &text, &[]).expect("a good suite");
            spec.first_scenario().stages.interval.value
        };
        assert_eq!(interval("10s"), Nanos(250_000_000), "40 of them");
        assert_eq!((interval("1h"), interval("100ms")), (Nanos::seconds(1), Nanos(10_000_000)));
        assert_eq!(run.work.what, ["/mnt/x"]);
        assert!(
            crate::asked::suite_and_targets::find(&[spec.suite.name.value]).is_err(),
            "not to be taken for a built-in suite"
        );
    }

    fn spec_of(line: &str) -> Spec {
        let words = std::iter::once("plimsoll").chain(line.split('|'));
        let Command::Run(run) = Arguments::parse_from(words).command else { panic!("a run") };
        let text = suite(run.work.quick.rw.expect("given"), &run.work.quick);
        Spec::parse("quick", &text, &[]).unwrap_or_else(|errors| panic!("{line}: {errors:?}"))
    }

    #[test]
    fn a_run_is_named_by_what_it_does_unless_it_is_given_a_name() {
        for (line, name) in [
            ("run|--rw|randread|--bs|4k|--iodepth|32|/x", "randread 4k QD32×1"),
            ("run|--rw|write|--bs|1M|--numjobs|4|/x", "write 1m QD1×4"),
            ("run|--rw|randread|--rate|2k|/x", "randread 4k QD1×1 at 2000 IOPS"),
            ("run|--rw|randrw|--rwmixread|70|--bs|512|/x", "randrw 70% 512 QD1×1"),
            ("run|--rw|read|--name|before \"the\" update\\|/x", "before \"the\" update\\"),
        ] {
            assert_eq!(spec_of(line).suite.name.value, name, "{line}");
        }
    }

    #[test]
    fn words_beside_a_suite_change_it() {
        let line = "run|smoke|--runtime|2|--bs|8k|--iodepth|16|--size|1m|--rate|2k|--name|a b";
        let words = std::iter::once("plimsoll").chain(line.split('|'));
        let Command::Run(run) = Arguments::parse_from(words).command else { panic!("a run") };
        let text = "name = \"s\"\n[stages]\nmeasure = \"60s\"\n[[workload]]\nname = \"w\"\n\
                    [[workload]]\nname = \"v\"\nblock_size = \"1MiB\"\n";
        let spec = Spec::parse("s", text, &[]).expect("a good suite");
        let spec = Spec::parse("s", text, &sets(&run.work.quick, &spec)).expect("a good suite");
        let stages = &spec.first_scenario().stages;
        let interval = Nanos(50_000_000);
        assert_eq!((stages.measure.value, stages.interval.value), (Nanos::seconds(2), interval));
        assert_eq!(spec.suite.name.value, "a b");
        for point in &spec.first_scenario().points {
            let workload = &point.workloads[0];
            assert_eq!(workload.block_size.value, SizeMix::single(Bytes(8192)));
            assert_eq!(workload.depth.value, Depth(16));
        }
        assert!(sets(&QuickArgs::default(), &spec).is_empty());
        let text = "name = \"s\"\n[stages]\namount = \"all\"\n[[workload]]\nname = \"w\"\n";
        let by_amount = Spec::parse("s", text, &[]).expect("a good suite");
        let words = QuickArgs { runtime: Some(Nanos::seconds(2)), ..QuickArgs::default() };
        let timed = Spec::parse("s", text, &sets(&words, &by_amount)).expect("a good suite");
        assert_eq!(timed.first_scenario().stages.amount.value, Amount::None, "the time ends it");
    }

    #[test]
    fn sizes_are_those_of_fio() {
        for text in ["64k", "64K", "64kb", "64KB", "64KiB", "65536", "65536b"] {
            let spec = spec_of(&format!("run|--rw|read|--bs|{text}|--size|{text}|/x"));
            let scenario = spec.first_scenario();
            let size = SizeMix::single(Bytes(65_536));
            assert_eq!(scenario.points[0].workloads[0].block_size.value, size, "{text}");
            assert_eq!(scenario.layout.size.value, Auto::Fixed(Bytes(65_536)), "{text}");
        }
        let spec = spec_of("run|--rw|read|--size|1.5GB|/x");
        assert_eq!(spec.first_scenario().layout.size.value, Auto::Fixed(Bytes(3 << 29)));
    }

    #[test]
    fn ramp_rate_dsync_and_verify_are_those_of_suites() {
        let spec = spec_of("run|--rw|write|--ramp|5s|--rate|2k|--dsync|--verify|/x");
        let workload = &spec.first_scenario().points[0].workloads[0];
        assert_eq!(spec.first_scenario().stages.precondition.value, Nanos::seconds(5));
        assert_eq!(
            workload.rate.value,
            Auto::Fixed(Offered::Fixed(Rate::Iops { milli: 2_000_000 }))
        );
        assert!(workload.dsync.value);
        assert_eq!(spec.first_scenario().contents.verify.value, Verify::After);
        let spec = spec_of("run|--rw|read|--rate=1500|--ramp_time=2|/x");
        assert_eq!(spec.first_scenario().stages.precondition.value, Nanos::seconds(2));
        let bandwidth = spec_of("run|--rw|read|--rate|100MiB/s|/x");
        let rate = &bandwidth.first_scenario().points[0].workloads[0].rate.value;
        let wanted = Offered::Fixed(Rate::Bytes { per_second: 100 << 20 });
        assert_eq!(*rate, Auto::Fixed(wanted));
    }
}
