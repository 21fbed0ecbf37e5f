//! Processors: time by state, interrupts, clocks. (man 5 proc_stat, proc_interrupts; the kernel's
//! `Documentation/admin-guide/pm/cpufreq.rst` and `ABI/testing/sysfs-devices-system-cpu`.)

use super::file::{KernelFile, Opener};
use super::parse::{after, name, number, numbers, split_once, words};
use super::table::{Column, Table};
use super::{NS_PER_S, Source};
use model::CounterSample;
use model::counters::{Layer, Metric};

/// `/proc/stat`: the host's sums and every CPU's time by state.
pub struct Stat {
    file: KernelFile,
    host: Table,
    cpus: Table,
}

impl Stat {
    pub fn new(opener: &mut Opener) -> Stat {
        use Metric::{
            GuestNiceNs, GuestNs, IdleNs, IowaitNs, IrqNs, NiceNs, SoftirqNs, StealNs, SystemNs,
            UserNs,
        };
        let rate = procfs::ticks_per_second().max(1);
        let states = [
            UserNs, NiceNs, SystemNs, IdleNs, IowaitNs, IrqNs, SoftirqNs, StealNs, GuestNs,
            GuestNiceNs,
        ];
        // A second's worth of going back is a correction of the kernel's, more is a CPU that was
        // off.
        let states = states.map(|metric| Column::scaled(metric, NS_PER_S / rate).loose(rate));
        let host = [Metric::Interrupts, Metric::ContextSwitches, Metric::Runnable, Metric::Blocked]
            .map(Column::plain);
        Stat {
            file: opener.file("proc/stat"),
            host: Table::new(Layer::Host, host.to_vec()),
            cpus: Table::new(Layer::Cpu, states.to_vec()),
        }
    }
}

impl Source for Stat {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        let mut host = [None; 4];
        let whole = self.file.lines(opener, |line| {
            let Some((key, rest)) = split_once(line, b' ') else { return };
            let value = || words(rest).next().and_then(number);
            match key {
                b"intr" => host[0] = value(),
                b"ctxt" => host[1] = value(),
                b"procs_running" => host[2] = value(),
                b"procs_blocked" => host[3] = value(),
                // `cpu` alone is the sum of all.
                _ => {
                    if let Some(cpu) = after(key, "cpu").filter(|cpu| number(cpu).is_some()) {
                        self.cpus.put(cpu, &numbers::<10>(words(rest)), sample);
                    }
                }
            }
        });
        self.host.put(b"", &host, sample);
        self.host.end(sample);
        self.cpus.end(sample);
        (!whole).then_some("/proc/stat")
    }
}

/// More CPUs than any machine has.
const MOST_CPUS: usize = 1 << 16;

/// `/proc/interrupts`, summed for each CPU.
pub struct Interrupts {
    file: KernelFile,
    table: Table,
    /// The CPUs of the table's head, and each one's sum.
    cpus: Vec<(String, u64)>,
}

impl Interrupts {
    pub fn new(opener: &mut Opener) -> Interrupts {
        let table = Table::new(Layer::Interrupt, vec![Column::plain(Metric::Interrupts)]);
        Interrupts { file: opener.file("proc/interrupts"), table, cpus: Vec::new() }
    }

    fn head(&mut self, line: &[u8]) {
        let mut count = 0;
        for cpu in words(line).filter_map(|word| after(word, "CPU")).take(MOST_CPUS) {
            match self.cpus.get_mut(count) {
                Some((known, sum)) if known.as_bytes() == cpu => *sum = 0,
                _ => {
                    self.cpus.truncate(count);
                    self.cpus.push((name(cpu).into_owned(), 0));
                }
            }
            count += 1;
        }
        self.cpus.truncate(count);
    }
}

impl Source for Interrupts {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        let mut file = std::mem::take(&mut self.file);
        let mut is_head = true;
        let whole = file.lines(opener, |line| {
            if std::mem::take(&mut is_head) {
                return self.head(line);
            }
            let Some((_, counts)) = split_once(line, b':') else { return };
            for ((_, sum), count) in self.cpus.iter_mut().zip(words(counts).map_while(number)) {
                *sum = sum.saturating_add(count);
            }
        });
        self.file = file;
        if whole && !is_head {
            for (cpu, sum) in &self.cpus {
                self.table.put(cpu.as_bytes(), &[Some(*sum)], sample);
            }
        }
        self.table.end(sample);
        (!whole).then_some("/proc/interrupts")
    }
}

/// Each CPU's clock, and how often heat slowed it down.
pub struct Clocks {
    table: Table,
    cpus: Vec<(String, [Option<KernelFile>; 3])>,
}

impl Clocks {
    pub fn new(opener: &mut Opener) -> Clocks {
        let folder = "sys/devices/system/cpu";
        let entries = std::fs::read_dir(opener.tree().path(folder)).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut cpus: Vec<u64> =
            names.filter_map(|name| number(name.strip_prefix("cpu")?.as_bytes())).collect();
        cpus.sort_unstable();
        cpus.truncate(MOST_CPUS);
        let parts = [
            "cpufreq/scaling_cur_freq",
            "thermal_throttle/core_throttle_count",
            "thermal_throttle/package_throttle_count",
        ];
        let mut files =
            |cpu: u64| parts.map(|part| opener.file_of_now(&format!("{folder}/cpu{cpu}/{part}")));
        let cpus = cpus.into_iter().map(|cpu| (cpu.to_string(), files(cpu)));
        // A machine without any of them is not asked again.
        let cpus = cpus.filter(|(_, files)| files.iter().any(Option::is_some)).collect();
        let frequency = Column::scaled(Metric::FrequencyHz, 1_000);
        let throttles = [Metric::CoreThrottles, Metric::PackageThrottles].map(Column::plain);
        Clocks { table: Table::new(Layer::Clock, [&[frequency], &throttles[..]].concat()), cpus }
    }
}

impl Source for Clocks {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        for (cpu, files) in &mut self.cpus {
            let now = files.each_mut().map(|file| file.as_mut()?.number(opener));
            if now.iter().any(Option::is_some) {
                self.table.put(cpu.as_bytes(), &now, sample);
            }
        }
        self.table.end(sample);
        None
    }
}
