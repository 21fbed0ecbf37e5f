//! Time, rate and order: when requests are due, how long jobs run, and which after which.

use crate::fio::job::{Job, later, near, same};
use crate::loss::{Class, Verdict};
use crate::table::{Given, Opt, Rule, Takes};
use crate::values::{flag, number, three, time};

const SECOND: u64 = 1_000_000_000;
const MICROSECOND: u64 = 1_000;

/// The options of this chapter.
pub const OPTIONS: &[Opt<Job>] = &[
    Opt {
        name: "name",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "the workload's `name`", |job, given| {
            job.name.clone_from(&given.value);
            Ok(Verdict::same("the workload's `name`"))
        }),
    },
    Opt {
        name: "description",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "a comment of the workload", |job, given| {
            same(&mut job.description, given, given.value.clone(), "a comment")
        }),
    },
    Opt {
        name: "numjobs",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`workers`", |job, given| {
            let value = match given.value.trim() {
                "$ncpus" => None,
                text => Some(number(text, job.kb_base)?),
            };
            same(&mut job.numjobs, given, value, "`workers`")
        }),
    },
    Opt {
        name: "loops",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "`sweep.repetitions`: each loop is a point with results of its own",
            |job, given| {
                let value = number(&given.value, job.kb_base)?;
                later(&mut job.loops, given, value)
            },
        ),
    },
    Opt {
        name: "runtime",
        aliases: &["timeout"],
        takes: Takes::Time,
        rule: Rule::Read(
            Class::Same,
            "`stages.measure`; where fio would end earlier, with `size`, Plimsoll goes on",
            |job, given| {
                let value = time(&given.value, SECOND)?;
                same(&mut job.runtime, given, value, "`stages.measure`")
            },
        ),
    },
    Opt {
        name: "time_based",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(Class::Same, "`stages.measure` without `amount`", |job, given| {
            let value = flag(&given.value)?;
            same(&mut job.time_based, given, value, "`stages.measure`")
        }),
    },
    Opt {
        name: "ramp_time",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Same, "`stages.precondition`", |job, given| {
            let value = time(&given.value, SECOND)?;
            same(&mut job.ramp, given, value, "`stages.precondition`")
        }),
    },
    Opt {
        name: "ramp_size",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Refused("a precondition that ends after an amount"),
    },
    Opt {
        name: "startdelay",
        aliases: &["start_delay"],
        takes: Takes::Time,
        rule: Rule::Read(
            Class::Same,
            "a curve of `rate` where all have a rate and a time; harmless where all have the same",
            |job, given| {
                let text = given.value.split(['-', ',']).next().unwrap_or_default();
                let value = time(text, SECOND)?;
                later(&mut job.delay, given, value)
            },
        ),
    },
    Opt {
        name: "stonewall",
        aliases: &["wait_for_previous"],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Same,
            "a point of its own, or a scenario where its layout, engine or time differs",
            |job, given| {
                let value = flag(&given.value)?;
                same(&mut job.stonewall, given, value, "it runs after all before it")
            },
        ),
    },
    Opt {
        name: "wait_for",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "it runs after all that run with that job",
            |job, given| {
                near(
                    &mut job.wait_for,
                    given,
                    given.value.clone(),
                    "it runs after that job and all that run with it",
                )
            },
        ),
    },
    Opt {
        name: "new_group",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("every workload has results of its own"),
    },
    Opt {
        name: "exitall",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Read(
            Class::Approximated,
            "`stages.stonewall` where an amount is measured: all stop with the first",
            |job, given| {
                let value = flag(&given.value)?;
                later(&mut job.exitall, given, value)
            },
        ),
    },
    Opt {
        name: "exit_what",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "the end of a job ends those that run with it, and no others",
            |_, given| {
                Ok(match given.value.as_str() {
                    "group" | "stonewall" => Verdict::same("those that run together end together"),
                    _ => {
                        Verdict::near("what comes later runs all the same; fio would leave it out")
                    }
                })
            },
        ),
    },
    Opt {
        name: "exitall_on_error",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Unless(&["0"], "a run that ends at the first error; errors are counted here"),
    },
    Opt {
        name: "rate",
        aliases: &[],
        takes: Takes::Size,
        rule: Rule::Read(Class::Approximated, RATE, |job, given| {
            let base = job.kb_base;
            let value = three(&given.value, |text| number(text, base))?;
            near(&mut job.rate, given, value, RATE)
        }),
    },
    Opt {
        name: "rate_iops",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, RATE, |job, given| {
            let base = job.kb_base;
            let value = three(&given.value, |text| number(text, base))?;
            near(&mut job.iops, given, value, RATE)
        }),
    },
    Opt {
        name: "rate_process",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(Class::Same, "`arrivals`", |job, given| {
            let poisson = given.value == "poisson";
            same(&mut job.poisson, given, poisson, "`arrivals`")
        }),
    },
    Opt {
        name: "rate_min",
        aliases: &["ratemin", "rate_iops_min"],
        takes: Takes::Number,
        rule: Rule::Read(Class::Approximated, LEAST, |_, _| Ok(Verdict::near(LEAST))),
    },
    Opt {
        name: "rate_cycle",
        aliases: &["ratecycle"],
        takes: Takes::Number,
        rule: Rule::Harmless("every request of a rate is due at a time of its own"),
    },
    Opt {
        name: "rate_ignore_thinktime",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("a rate has no rests"),
    },
    Opt {
        name: "thinktime",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Same, "`think`", |job, given| {
            let value = time(&given.value, MICROSECOND)?;
            same(&mut job.think, given, value, "`think`")
        }),
    },
    Opt {
        name: "thinktime_spin",
        aliases: &["thinkcycles"],
        takes: Takes::Time,
        rule: Rule::Read(
            Class::Approximated,
            "a worker rests without computing; it matters where CPUs are short",
            |_, _| Ok(Verdict::near("a worker rests without computing")),
        ),
    },
    Opt {
        name: "thinktime_blocks",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`burst`", |job, given| {
            let value = number(&given.value, job.kb_base)?;
            same(&mut job.burst, given, value, "`burst`")
        }),
    },
    Opt {
        name: "thinktime_blocks_type",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "a rest begins when the whole burst has come back",
            |_, given| {
                Ok(match given.value.as_str() {
                    "complete" => Verdict::same("`burst`"),
                    _ => Verdict::near("a rest begins when the whole burst has come back"),
                })
            },
        ),
    },
    Opt {
        name: "thinktime_iotime",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Unless(&["0"], "rests after a time instead of after a number of requests"),
    },
    Opt {
        name: "max_latency",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Approximated, SLOW, |_, given| {
            Ok(if given.value == "0" { Verdict::same("no limit") } else { Verdict::near(SLOW) })
        }),
    },
    Opt {
        name: "latency_target",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Approximated, TARGET, |_, given| match given.value.as_str() {
            "0" => Ok(Verdict::harmless("no depth is searched")),
            text => {
                let limit = crate::draft::time(time(text, MICROSECOND)?);
                let limit = limit.trim_matches('"').to_owned();
                Ok(Verdict::near(format!(
                    "`run` keeps `depth`; `plimsoll loadline SUITE --along depth --objective \
                     \"p99 < {limit}\"` searches the one that holds it"
                )))
            }
        }),
    },
    Opt {
        name: "latency_percentile",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(
            Class::Approximated,
            "the quantile of `--objective` of `plimsoll loadline`",
            |_, given| {
                let share = given.value.split(':').next().unwrap_or_default();
                let percent: f64 = share.parse().map_err(|_| "a percentage".to_owned())?;
                match (0.0..100.0).contains(&percent) {
                    true => Ok(Verdict::near(format!("`--objective \"p{percent} < …\"`"))),
                    false => Ok(Verdict::near("`--objective \"max < …\"`")),
                }
            },
        ),
    },
    Opt {
        name: "latency_window",
        aliases: &[],
        takes: Takes::Time,
        rule: Rule::Read(Class::Approximated, WINDOW, |_, _| Ok(Verdict::near(WINDOW))),
    },
    Opt {
        name: "latency_run",
        aliases: &[],
        takes: Takes::Flag,
        rule: Rule::Harmless("`plimsoll loadline` goes on until it has found its depth"),
    },
    Opt {
        name: "flow",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "`share`, of jobs that run together for a time", flow),
    },
    Opt {
        name: "flow_id",
        aliases: &[],
        takes: Takes::Number,
        rule: Rule::Read(Class::Same, "jobs with one number are bound together", |job, given| {
            let value = number(&given.value, job.kb_base)?;
            same(&mut job.flow_id, given, value, "jobs with one number are bound together")
        }),
    },
    Opt {
        name: "flow_sleep",
        aliases: &["flow_watermark"],
        takes: Takes::Number,
        rule: Rule::Harmless("a worker looks again by itself until it is its turn"),
    },
    Opt {
        name: "steadystate",
        aliases: &["ss"],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Approximated,
            "`stages.until = \"steady\"`, by SNIA's rule instead of the limit that fio is given",
            |job, given| {
                near(
                    &mut job.steady,
                    given,
                    true,
                    "`until = \"steady\"`, by SNIA's rule: 20 % of range and 10 % of slope",
                )
            },
        ),
    },
    Opt {
        name: "steadystate_duration",
        aliases: &["ss_dur"],
        takes: Takes::Time,
        rule: Rule::Read(
            Class::Approximated,
            "`stages.measure`: the time over which the rate has to be steady",
            |job, given| {
                let value = time(&given.value, SECOND)?;
                near(&mut job.steady_time, given, value, "`measure`, in five rounds")
            },
        ),
    },
    Opt {
        name: "steadystate_ramp_time",
        aliases: &["ss_ramp"],
        takes: Takes::Time,
        rule: Rule::Read(Class::Same, "`stages.precondition`", |job, given| {
            let value = time(&given.value, SECOND)?;
            same(&mut job.steady_ramp, given, value, "`stages.precondition`")
        }),
    },
    Opt {
        name: "steadystate_check_interval",
        aliases: &["ss_interval"],
        takes: Takes::Time,
        rule: Rule::Harmless("the rule looks at every interval"),
    },
    Opt {
        name: "exec_prerun",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Read(
            Class::Same,
            "`stages.prerun`; its output goes into the run file",
            |job, given| same(&mut job.prerun, given, given.value.clone(), "`stages.prerun`"),
        ),
    },
    Opt {
        name: "exec_postrun",
        aliases: &[],
        takes: Takes::Text,
        rule: Rule::Refused("a command after a point; run it after `plimsoll run`"),
    },
];

const RATE: &str = "`rate`, of each worker: requests are due at their own times (an open loop), \
and latency \
     counts from then; fio's is a ceiling, and counts from the submission";
const LEAST: &str = "the run goes on below this rate, and the report shows it; fio would end. A \
gate: `plimsoll \
     compare --fail-if`";
const TARGET: &str = "`run` keeps `depth`; `plimsoll loadline SUITE --along depth --objective \
\"p99 < …\"` searches the depth that holds it";
const WINDOW: &str = "`plimsoll loadline` says itself how long a step takes";
const SLOW: &str = "the run goes on after a slow request, and the report shows it; fio would end";

fn flow(job: &mut Job, given: &Given) -> Result<Verdict, String> {
    if given.value.trim().starts_with('-') {
        return Err("a weight of at least 1: fio before 3.28 took negative ones".to_owned());
    }
    match number(&given.value, job.kb_base)? {
        0 => Ok(Verdict::harmless("no ratio is kept")),
        weight => same(&mut job.flow, given, weight, "`share`"),
    }
}
