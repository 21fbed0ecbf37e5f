//! CPU time of threads of this process (man 5 proc_pid_stat; the kernel's `Documentation/scheduler/sched-stats.rst`).

use super::file::{KernelFile, Opener};
use super::parse::{numbers, words};
use super::table::{Column, Table};
use super::{NS_PER_S, Source};
use model::CounterSample;
use model::counters::{Layer, Metric};

/// The threads that are watched.
pub struct Threads {
    table: Table,
    threads: Vec<(String, KernelFile, KernelFile)>,
}

impl Threads {
    pub fn new() -> Threads {
        let tick_ns = NS_PER_S / procfs::ticks_per_second().max(1);
        let ticks = [Metric::UserNs, Metric::SystemNs].map(|metric| Column::scaled(metric, tick_ns));
        let exact = [Metric::RunNs, Metric::WaitNs].map(Column::plain);
        Threads { table: Table::new(Layer::Thread, [ticks, exact].concat()), threads: Vec::new() }
    }

    /// Watches these threads from now on, and no others.
    pub fn watch(&mut self, opener: &mut Opener, threads: &[u32]) {
        let mut open = |thread: &u32| {
            let folder = format!("proc/self/task/{thread}");
            (thread.to_string(), opener.file(&format!("{folder}/stat")), opener.file(&format!("{folder}/schedstat")))
        };
        self.threads = threads.iter().map(&mut open).collect();
    }
}

/// User and system time in ticks: the 14th and 15th field. The second, the thread's name, may hold blanks and brackets.
fn times(line: &[u8]) -> [Option<u64>; 2] {
    let after_name = line.iter().rposition(|byte| *byte == b')').map_or(&line[..0], |at| &line[at + 1..]);
    numbers::<2>(words(after_name).skip(11))
}

impl Source for Threads {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        self.table.begin();
        for (name, stat, schedstat) in &mut self.threads {
            let mut now = [None; 4];
            stat.lines(opener, |line| [now[0], now[1]] = times(line));
            schedstat.lines(opener, |line| [now[2], now[3]] = numbers::<2>(words(line)));
            if now.iter().any(Option::is_some) {
                self.table.put(name.as_bytes(), &now, sample);
            }
        }
        self.table.end(sample);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::times;

    #[test]
    fn a_name_with_brackets_and_blanks_moves_nothing() {
        let line = b"12 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 141 151 0 0\n";
        assert_eq!(times(line), [Some(141), Some(151)]);
        assert_eq!(times(b"12 cut off"), [None, None]);
    }
}
