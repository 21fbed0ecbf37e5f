//! What a run says while it goes: a consumer of its events, like the run file.

mod bar;
mod line;

use crate::progress::Progress;
use bar::Bar;
use model::{Event, OccurrenceKind, Plan, printable};
use report::topics;
use std::io::Write;

/// How much to say, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing.
    Quiet,
    /// A bar for each stage, for eyes; on a terminal of so many columns, where that is known.
    Terminal(Option<usize>),
    /// A line for each stage and every ten seconds in between, for logs.
    Lines,
}

/// A view of a running run. Writes to standard error: standard output is for results.
pub struct Live {
    progress: Progress,
    hosts: Vec<String>,
    view: View,
}

enum View {
    Quiet,
    Bar(Bar),
    Lines { out: Box<dyn Write>, next_ns: u64 },
}

/// Between two lines of one stage lies at least this.
const LINE_EVERY_NS: u64 = 10_000_000_000;

impl Live {
    /// A view of a run of `plan`.
    pub fn new(mode: Mode, plan: &Plan) -> Live {
        let view = match mode {
            Mode::Quiet => View::Quiet,
            Mode::Terminal(room) => View::Bar(Bar::new(room)),
            Mode::Lines => View::Lines { out: Box::new(std::io::stderr()), next_ns: LINE_EVERY_NS },
        };
        let hosts = plan
            .hosts
            .iter()
            .filter(|_| plan.hosts.len() > 1)
            .map(|host| host.hostname.clone())
            .collect();
        Live { progress: Progress::new(plan), hosts, view }
    }

    /// Goes on as lines: for when another view of the run is left.
    pub fn go_on_in_lines(&mut self) {
        let next_ns = self.progress.elapsed_ns().saturating_add(LINE_EVERY_NS);
        self.view = View::Lines { out: Box::new(std::io::stderr()), next_ns };
    }

    /// Takes in what happened and shows it.
    pub fn event(&mut self, event: &Event) {
        self.progress.event(event);
        let happened = match event {
            // A note tells of the loss of a host and of its return, too.
            Event::Happened(one)
                if !matches!(one.kind, OccurrenceKind::HostLost | OccurrenceKind::HostReturned) =>
            {
                let host = one.host.and_then(|host| self.hosts.get(host as usize));
                let host = host.map_or_else(String::new, |host| format!("{host}: "));
                Some(topics::occurrences::line_of(one, &host))
            }
            _ => None,
        };
        match &mut self.view {
            View::Quiet => {}
            View::Bar(bar) => match happened {
                Some(line) => bar.say(&line),
                None => bar.show(event, &self.progress),
            },
            View::Lines { out, next_ns } => {
                if let Some(line) = happened {
                    let _ = writeln!(out, "{}", printable::line(&line));
                }
                for line in lines(event, &self.progress, next_ns) {
                    // Nobody reads it any more: no reason to end a run.
                    let _ = writeln!(out, "{}", printable::line(&line));
                }
            }
        }
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("progress", &self.progress).finish_non_exhaustive()
    }
}

fn lines(event: &Event, progress: &Progress, next_ns: &mut u64) -> Vec<String> {
    match event {
        Event::StageStarted { .. } => {
            *next_ns = LINE_EVERY_NS;
            Vec::new()
        }
        Event::Sample(_) | Event::Waiting(_)
            if progress.elapsed_ns() >= *next_ns && !progress.is_done() =>
        {
            *next_ns = progress.elapsed_ns() + LINE_EVERY_NS;
            vec![format!(
                "{}  {:>3.0} %  {}",
                progress.head(),
                progress.share() * 100.0,
                progress.now()
            )]
        }
        Event::StageEnded { .. } => vec![progress.summary()],
        event => progress.note(event).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::testing::Recorded;
    use model::event::StageEnd;
    use model::note::OtherRun;
    use model::{Fact, Note, Op, Record, RunEnd};
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("not poisoned").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn log(record: &Record) -> String {
        let out = Shared::default();
        let view = View::Lines { out: Box::new(out.clone()), next_ns: LINE_EVERY_NS };
        let mut live = Live { progress: Progress::new(&record.plan), hosts: Vec::new(), view };
        for stage in &record.stages {
            live.event(&Event::StageStarted { stage: stage.stage, unix_ns: 0 });
            stage.samples().iter().for_each(|sample| live.event(&Event::Sample(sample.clone())));
            live.event(&Event::StageEnded {
                stage: stage.stage,
                end: stage.end.clone().unwrap_or(StageEnd::Interrupted),
            });
        }
        let bytes = out.0.lock().expect("not poisoned").clone();
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn a_log_has_a_line_for_each_stage_and_every_ten_seconds() {
        let mut recorded = Recorded::new(
            "[layout]\nsize = \"8MiB\"\nfiles = 2\n[stages]\nmeasure = \
             \"25s\"\n[[workload]]\nname = \"mix\"\nread = \"70%\"\nworkers = 1\n",
        );
        recorded.prepare();
        recorded.load(0..25, &[(Op::Read, &[250_000; 7_000]), (Op::Write, &[900_000; 3_000])]);
        insta::assert_snapshot!(log(&recorded.end()));
    }

    #[test]
    fn where_stages_are_added_no_total_is_printed() {
        let mut recorded =
            Recorded::new("[stages]\nmeasure = \"2s\"\n[[workload]]\nname = \"w\"\n");
        recorded.second(0, &[(Op::Read, &[1_000; 500])]);
        assert!(log(&recorded.end()).contains("/2] w "));
        recorded.record_mut().plan.rounds.most = 9;
        let told = log(&recorded.record());
        assert!(told.starts_with("[2] w "), "{told}");
    }

    #[test]
    fn fsyncs_are_no_io_of_the_rate() {
        let mut recorded =
            Recorded::new("[[workload]]\nname = \"w\"\nread = \"0%\"\nfsync_every = 1\n");
        recorded.second(0, &[(Op::Write, &[1_000; 500]), (Op::Fsync, &[9_000; 500])]);
        let text = log(&recorded.end());
        assert!(text.contains("500 IOPS") && !text.contains("1,000 IOPS"), "{text}");
    }

    #[test]
    fn odd_events_do_no_harm() {
        let record = Recorded::new("[[workload]]\nname = \"w\"\n").record();
        let mut live = Live::new(Mode::Quiet, &record.plan);
        live.event(&Event::StageStarted { stage: 99, unix_ns: 0 });
        live.event(&Event::StageEnded { stage: 7, end: StageEnd::Complete });
        assert_eq!(live.progress.share(), 0.0);
    }

    #[test]
    fn other_runs_are_told_once_and_counted_at_the_end() {
        let record = Recorded::new("[[workload]]\nname = \"w\"\n").record();
        let out = Shared::default();
        let view = View::Lines { out: Box::new(out.clone()), next_ns: LINE_EVERY_NS };
        let mut live = Live { progress: Progress::new(&record.plan), hosts: Vec::new(), view };
        for number in 0..28u8 {
            let other = OtherRun {
                run: format!("r{number}"),
                user: "u".to_owned(),
                from: None,
                pid: 1,
                since_unix_s: 0,
                same_place: false,
            };
            let fact = Fact::OtherRun(other);
            live.event(&Event::Note(Note { stage: Some(0), host: 0, fact }));
        }
        live.event(&Event::RunEnded { unix_ns: 0, end: RunEnd::Complete });
        let said = String::from_utf8(out.0.lock().expect("not poisoned").clone()).expect("text");
        assert_eq!(said.lines().count(), 2, "{said}");
        assert!(said.contains("another run loaded this host: r0, started by u"), "{said}");
        assert!(
            said.ends_with("another run: 27 more such notes; the doubts name the runs\n"),
            "{said}"
        );
    }
}
