//! A suite as a job file of fio, with what fio's words cannot say: the other way round from
//! `dialects::fio`.

mod load;
mod lost;
#[cfg(test)]
mod tests;

pub(crate) use lost::{Lost, Severity};

use form::{Amount, Auto};
use model::choices::Backend;
use std::fmt::Write;
use suite::{LayoutKind, PointSpec, Scenario, Spec, WorkloadKind, WorkloadSpec};

/// The size of files whose suite leaves it to the machine.
const SIZE: &str = "1073741824";
/// The most workers of a workload that leaves their number to the machine.
const WORKERS: u32 = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FioJob {
    pub(crate) text: String,
    /// What it does not say as the suite does, each once.
    pub(crate) lost: Vec<Lost>,
}

impl FioJob {
    /// The job file of a suite: a section for each workload of each point, in their order.
    pub(crate) fn of(spec: &Spec) -> FioJob {
        let mut job = FioJob::default();
        // Writing to a String cannot fail.
        let _ =
            writeln!(job.text, "; Written by Plimsoll from the suite {}.", spec.suite.name.value);
        lost::of_suite(spec, &mut job);
        let mut number = 0;
        for scenario in spec.scenarios() {
            lost::of_scenario(scenario, &mut job);
            for point in &scenario.points {
                let mut is_first = true;
                for work in &point.workloads {
                    if work.kind.value != WorkloadKind::Io {
                        job.lose(Severity::Refused, "kind", "fio has no operations on whole files");
                        continue;
                    }
                    number += 1;
                    let name = section_name(scenario, point, work, number);
                    let _ = write!(job.text, "\n[{name}]\n");
                    if is_first && number > 1 {
                        job.put("stonewall", "");
                    }
                    is_first = false;
                    section(&mut job, scenario, point, work);
                }
            }
        }
        job
    }

    /// Says that something differs; the same of several workloads once.
    fn lose(&mut self, severity: Severity, field: &'static str, why: &'static str) {
        let lost = Lost { severity, field, why };
        if !self.lost.contains(&lost) {
            self.lost.push(lost);
        }
    }

    fn put(&mut self, name: &str, value: impl std::fmt::Display) {
        let value = value.to_string();
        let _ = match value.as_str() {
            "" => writeln!(self.text, "{name}"),
            value => writeln!(self.text, "{name}={value}"),
        };
    }
}

fn section_name(
    scenario: &Scenario,
    point: &PointSpec,
    work: &WorkloadSpec,
    number: u32,
) -> String {
    let mut name = work.name.value.clone();
    for setting in &point.sweep {
        name.push_str(&format!("-{}-{}", setting.axis(), setting.label()));
    }
    let is_alone = scenario.points.iter().flat_map(|point| &point.workloads).count() == 1;
    let is_named = scenario.name.as_ref().is_some_and(|scenario| *scenario != name);
    if is_named && !is_alone {
        name = format!("{}-{name}", scenario.name.as_deref().unwrap_or_default());
    }
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    let is_repeated = point.repetition > 1;
    if is_repeated || name == "global" || name.is_empty() {
        format!("{name}-{number}")
    } else {
        name
    }
}

fn section(job: &mut FioJob, scenario: &Scenario, point: &PointSpec, work: &WorkloadSpec) {
    let engine = &scenario.engine;
    job.put(
        "ioengine",
        match engine.backend.value {
            Backend::IoUring | Backend::Auto => "io_uring",
            Backend::Libaio => "libaio",
            Backend::Sync => "psync",
            Backend::Null | Backend::Nop => "null",
        },
    );
    job.put("direct", u8::from(engine.direct.value));
    let workers = match work.workers.value {
        Auto::Fixed(count) => count.0,
        Auto::Auto => {
            job.lose(Severity::Approximated, "workers", "one for each CPU, at most 4: numjobs=4");
            WORKERS
        }
    };
    files(job, point, workers);
    load::load(job, work, workers);
    job.put("iodepth", work.depth.value.0);
    job.put("numjobs", workers);
    times(job, scenario, point);
    let writes_alone = work.read.value == model::Percent::ZERO;
    if scenario.stages.prepare.value && writes_alone {
        job.put("overwrite", 1);
    }
    if let Some(bytes) = percent_of(&scenario.contents.compressible.value) {
        job.put("buffer_compress_percentage", bytes);
    }
    if let Some(bytes) = percent_of(&scenario.contents.duplicate.value) {
        job.put("dedupe_percentage", bytes);
    }
}

/// A share in percent; `None` for none.
fn percent_of(share: &model::Percent) -> Option<f64> {
    (share.ppm > 0).then(|| f64::from(share.ppm) / 10_000.0)
}

fn files(job: &mut FioJob, point: &PointSpec, workers: u32) {
    let layout = &point.layout;
    let files = match layout.files.value {
        Auto::Fixed(count) => count.0,
        Auto::Auto => workers,
    };
    let size = match layout.size.value {
        Auto::Fixed(bytes) => bytes.0.to_string(),
        Auto::Auto => {
            job.lose(Severity::Approximated, "layout.size", "a tenth of the free space: size=1g");
            SIZE.to_owned()
        }
    };
    let each = "its workers share files by `sharing`; jobs of fio have files of their own";
    match layout.kind.value {
        LayoutKind::SharedFile => {
            job.lose(Severity::Approximated, "layout.kind", "every job loads all of one file");
            job.put("filename", "plimsoll-shared");
        }
        LayoutKind::Tree => {}
        LayoutKind::Files if files != workers => {
            job.lose(Severity::Approximated, "layout.files", each);
        }
        LayoutKind::Files => {}
    }
    job.put("size", size);
}

fn times(job: &mut FioJob, scenario: &Scenario, point: &PointSpec) {
    let stages = &scenario.stages;
    let seconds = |time: model::Nanos| format!("{}ms", time.0 / 1_000_000);
    match stages.amount.value {
        Amount::None => {
            job.put("time_based", "");
            job.put("runtime", seconds(stages.measure.value));
        }
        Amount::All => {}
        // All of it once, as without an amount.
        Amount::Bytes(bytes) if point.layout.size.value == Auto::Fixed(bytes) => {}
        Amount::Bytes(bytes) => job.put("io_size", bytes.0),
    }
    if stages.precondition.value.0 > 0 {
        job.put("ramp_time", seconds(stages.precondition.value));
    }
    if !stages.prerun.value.is_empty() {
        job.put("exec_prerun", &stages.prerun.value);
    }
}
