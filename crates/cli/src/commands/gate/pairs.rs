//! Base and head in turns: a coin decides which is first.

use super::Outcome;
use super::sides::{with_out, writes_run};
use super::sought::Sought;
use super::started::{self, Ended, Stop};
use super::workplace::Workplace;
use crate::args::GateArgs;
use crate::commands::saved::read_digests;
use crate::failure::Failure;
use crate::terminal::standard_error::Progress;
use analysis::gate::{Answer, Gate, MOST_PAIRS, Subject, figures};
use model::rng::Rng;
use model::{Nanos, Record};
use report::topics::gate::{Runs, change};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

enum Value {
    Time(Duration),
    Run(Box<Record>),
}

enum Cut {
    Stopped,
    /// A run did not fit the rest of the time.
    Late,
}

/// Runs pairs until the answer is known or the time is over. A pair that does not fit the rest of
/// the time is left out: whether it does is no matter of which side is which.
pub(crate) fn run(sought: &Sought<'_>, base: &str, head: &str) -> Result<Outcome, Failure> {
    let args = sought.args;
    if writes_run(base) != writes_run(head) {
        return Err(Failure::usage(
            "one of --base and --head has {out} in it, and the other has not: a run file \
             and the time of a command cannot be compared; write {out} in both or in none",
        ));
    }
    let seed = args.seed.unwrap_or_else(seed_of_now);
    let mut runner = Runner {
        commands: [("base", base), ("head", head)],
        workplace: Workplace::new(args.output.keep.as_deref())?,
        stop: Stop::watch(),
        began: Instant::now(),
        budget: Duration::from_nanos(sought.budget.0),
    };
    let mut coins = Rng::new(seed);
    let mut progress = Progress::new(args.output.quiet);
    let mut gate: Option<Gate> = None;
    let mut was_stopped = false;
    for number in 1..=MOST_PAIRS {
        if !runner.has_time_for(number) {
            break;
        }
        let pair = match runner.pair(number, coins.below(2) == 1)? {
            Ok(pair) => pair,
            Err(cut) => {
                was_stopped = matches!(cut, Cut::Stopped);
                break;
            }
        };
        let gate = match &mut gate {
            Some(gate) => gate,
            None => gate.insert(Gate::new(sought.terms, subjects(&pair, args)?)),
        };
        gate.add(&logarithms(gate.subjects(), &pair, args, number)?);
        if gate.answer() != Answer::CannotTell {
            break;
        }
        show(&mut progress, gate, &runner);
    }
    progress.end();
    let Some(gate) = gate else {
        return Err(Failure::Interrupted("error: stopped before the first pair".to_owned()));
    };
    let pairs = gate.pairs();
    let each = runner.began.elapsed().div_f64(pairs.max(1) as f64);
    Ok(Outcome {
        subjects: gate.subjects().to_vec(),
        judged: gate.judged(),
        answer: gate.answer(),
        runs: Runs::Pairs { pairs, seed, each: nanos(each) },
        was_stopped,
    })
}

fn seed_of_now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Short enough to be typed again.
    now.as_secs() ^ u64::from(now.subsec_nanos())
}

fn nanos(time: Duration) -> Nanos {
    Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

struct Runner<'a> {
    commands: [(&'static str, &'a str); 2],
    workplace: Workplace,
    stop: Stop,
    began: Instant,
    budget: Duration,
}

impl Runner<'_> {
    fn left(&self) -> Duration {
        self.budget.saturating_sub(self.began.elapsed())
    }

    /// Whether a pair is likely to end in time; the first one is always tried.
    fn has_time_for(&self, number: usize) -> bool {
        let done = number - 1;
        done == 0 || self.left() >= self.began.elapsed().div_f64(done as f64)
    }

    fn pair(
        &mut self,
        number: usize,
        head_first: bool,
    ) -> Result<Result<[Value; 2], Cut>, Failure> {
        let order = if head_first { [1, 0] } else { [0, 1] };
        let mut values = [None, None];
        for side in order {
            match self.one(side, number)? {
                Ok(value) => values[side] = Some(value),
                Err(cut) => return Ok(Err(cut)),
            }
        }
        let [Some(base), Some(head)] = values else { unreachable!("both sides ran") };
        Ok(Ok([base, head]))
    }

    fn one(&mut self, side: usize, number: usize) -> Result<Result<Value, Cut>, Failure> {
        let (name, command) = self.commands[side];
        let log = self.workplace.log();
        let out = self.workplace.run_file(name, number);
        let line = with_out(command, &out);
        // A pair that began in time may end a little late, but none hangs.
        let limit = self.left().max(self.budget / 10);
        match started::run(&line, &log, limit, &self.stop)? {
            Ended::Stopped => Ok(Err(Cut::Stopped)),
            Ended::Late if number > 1 => Ok(Err(Cut::Late)),
            Ended::Late => Err(Failure::run(format!(
                "`{line}` took longer than {}, all that --budget leaves; allow more",
                nanos(limit)
            ))),
            Ended::After(time) if !writes_run(command) => Ok(Ok(Value::Time(time))),
            Ended::After(_) => {
                if !out.exists() {
                    return Err(Failure::run(format!(
                        "`{line}` ended well, but wrote no run file; use {{out}} as in \
                         `plimsoll run … --out {{out}}`"
                    )));
                }
                let record = read_digests(&out)?;
                self.workplace.done_with(&out);
                Ok(Ok(Value::Run(Box::new(record))))
            }
        }
    }
}

fn subjects(pair: &[Value; 2], args: &GateArgs) -> Result<Vec<Subject>, Failure> {
    match pair {
        [Value::Run(base), Value::Run(head)] => {
            super::recorded::comparable(base, head)?;
            super::recorded::shared_subjects(&[base], &[head], &args.metrics)
        }
        _ if args.metrics.is_empty() => Ok(vec![Subject::CommandTime]),
        _ => Err(Failure::usage(
            "--metric is about run files, and these commands are timed as a whole; write \
             {out} into both where a run file is expected",
        )),
    }
}

fn logarithms(
    subjects: &[Subject],
    pair: &[Value; 2],
    args: &GateArgs,
    number: usize,
) -> Result<Vec<f64>, Failure> {
    let values = |value: &Value| -> Vec<(Subject, f64)> {
        match value {
            Value::Time(time) => vec![(Subject::CommandTime, time.as_secs_f64().max(1e-9).ln())],
            Value::Run(record) => {
                let rows = analysis::results(record);
                let found = figures(&rows, &args.metrics).into_iter();
                let value = |found: (Subject, Vec<_>)| super::recorded::value(found.0, &found.1);
                found.filter_map(value).collect()
            }
        }
    };
    let [base, head] = [values(&pair[0]), values(&pair[1])];
    let of = |side: &[(Subject, f64)], subject: &Subject| {
        side.iter().find(|(known, _)| known == subject).map(|(_, value)| *value)
    };
    let ratio = |subject: &Subject| Some(of(&head, subject)? - of(&base, subject)?);
    let missing = |subject: &Subject| {
        let name = report::topics::gate::subject(subject);
        Failure::run(format!(
            "in pair {number}, a run has no figure \"{name}\", which those before it had; \
             --keep keeps the run files"
        ))
    };
    subjects.iter().map(|subject| ratio(subject).ok_or_else(|| missing(subject))).collect()
}

fn show(progress: &mut Progress, gate: &Gate, runner: &Runner<'_>) {
    let judged = gate.judged();
    let unknown = judged.iter().find(|one| one.answer == Answer::CannotTell);
    let Some(shown) = unknown.or(judged.first()) else { return };
    let left = nanos(runner.left());
    progress.say(|| format!("pair {}: {}, at most {left} left", gate.pairs(), change(shown)));
}
