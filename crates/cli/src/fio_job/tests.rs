//! A job becomes a suite and a job again, and stays that job.

use super::*;
use dialects::{Dialect, World, import};

fn again(text: &str) -> (Spec, FioJob) {
    let imported = import("a.fio", text, Some(Dialect::Fio), &World::NOTHING).expect("a job");
    let refused: Vec<_> = imported.refused().collect();
    assert!(refused.is_empty(), "{refused:?}");
    let spec = Spec::parse("a.toml", &imported.suites[0].text, &[]).expect("a suite");
    let job = FioJob::of(&spec);
    (spec, job)
}

const JOBS: [&str; 4] = [
    "[a]\nrw=randread\nbs=4k\nsize=64m\niodepth=8\nnumjobs=2\nioengine=libaio\ndirect=1\n\
     runtime=5\ntime_based\nramp_time=2\n",
    "[a]\nrw=randrw\nrwmixread=70\nbssplit=4k/50:8k/50\nsize=64m\nnorandommap\nioengine=psync\n\
     time_based\nruntime=3\n[b]\nstonewall\nrw=write\nbs=1m\nsize=64m\nfdatasync=4\nruntime=3\n\
     time_based\n",
    "[a]\nrw=randread\nbs=4k\nsize=64m\nrandom_distribution=zipf:1.1\nthinktime=100\n\
     thinktime_blocks=2\nruntime=3\ntime_based\n",
    "[a]\nrw=randwrite\nbs=8k\nsize=64m\nrate_iops=100\nruntime=3\ntime_based\nioengine=io_uring\n\
     iodepth=4\n",
];

#[test]
fn a_job_made_of_a_suite_is_a_fixed_point() {
    for text in JOBS {
        let (first_spec, first) = again(text);
        let (second_spec, second) = again(&first.text);
        assert_eq!(first.text, second.text, "of {text}");
        let works = |spec: &Spec| -> Vec<String> {
            let points = spec.scenarios().iter().flat_map(|scenario| &scenario.points);
            let works = points.flat_map(|point| &point.workloads);
            works
                .map(|work| {
                    format!(
                        "{} {:?} {:?} {:?} {:?} {:?} {:?}",
                        work.name.value,
                        work.block_size.value,
                        work.read.value,
                        work.access.value,
                        work.depth.value,
                        work.workers.value,
                        work.rate.value
                    )
                })
                .collect()
        };
        assert_eq!(works(&first_spec), works(&second_spec), "of {text}");
    }
}

#[test]
fn what_fio_cannot_say_is_said() {
    let text = "[contents]\nverify = true\n[[workload]]\nname = \"a]\\nrw=write\"\n";
    let spec = Spec::parse("a.toml", text, &[]);
    // A name that would be an option of its own stays in its brackets, if it is a name at all.
    if let Ok(spec) = spec {
        assert!(!FioJob::of(&spec).text.contains("\nrw=write"), "{spec:?}");
    }
    let text = "name = \"s\"\n[contents]\nverify = true\n[[workload]]\nname = \"a\"\n";
    let job = FioJob::of(&Spec::parse("a.toml", text, &[]).expect("a suite"));
    let of = |field: &str| job.lost.iter().find(|lost| lost.field == field).map(|l| l.severity);
    assert_eq!(of("contents.verify"), Some(Severity::Refused));
    assert_eq!(of("workers"), Some(Severity::Approximated));
}
