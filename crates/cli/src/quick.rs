//! fio's words for one workload, turned into a suite: there is one path for all runs.

use crate::args::{Pattern, QuickArgs};
use model::Percent;
use std::fmt::Write;

/// The suite that the quick form stands for.
pub fn suite(pattern: Pattern, quick: &QuickArgs) -> String {
    let mixed = quick.rwmixread.unwrap_or(Percent::of(50));
    let (access, read) = match pattern {
        Pattern::Read => ("sequential", Percent::ALL),
        Pattern::Write => ("sequential", Percent::ZERO),
        Pattern::Randread => ("random", Percent::ALL),
        Pattern::Randwrite => ("random", Percent::ZERO),
        Pattern::Rw => ("sequential", mixed),
        Pattern::Randrw => ("random", mixed),
    };
    let block_size = quick.bs.map_or(4096, |size| size.0);
    let workers = quick.numjobs.unwrap_or(1);
    let mut text = format!("name = \"quick-form\"\n\n[layout]\nfiles = {workers}\n");
    // Writing to a String cannot fail.
    if let Some(size) = quick.size {
        let _ = writeln!(text, "size = {}", size.0);
    }
    let measure_ms = quick.runtime.map_or(60_000, |time| time.0 / 1_000_000);
    let _ = write!(
        text,
        "\n[stages]\nmeasure = \"{measure_ms}ms\"\n\n[[workload]]\nname = \"{}\"\nblock_size = \
         {block_size}\nread = \"{read}\"\naccess = \"{access}\"\ndepth = {}\nworkers = {workers}\n",
        name(pattern),
        quick.iodepth.unwrap_or(1),
    );
    text
}

/// fio's word for the pattern.
fn name(pattern: Pattern) -> &'static str {
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
    use form::Depth;
    use model::choices::Access;
    use model::load::SizeMix;
    use model::{Bytes, Nanos};
    use suite::Spec;

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
        assert_eq!(run.work.what, ["/mnt/x"]);
        assert!(
            crate::suite_and_targets::find(&[spec.suite.name.value]).is_err(),
            "not to be taken for a built-in suite"
        );
    }
}
