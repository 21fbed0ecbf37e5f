//! Memory (man 5 proc_meminfo) and pressure (the kernel's `Documentation/accounting/psi.rst`).

use super::Source;
use super::file::{KernelFile, Opener};
use super::parse::{after, number, split_once, words};
use super::table::{Column, Table};
use model::CounterSample;
use model::counters::{Layer, Metric};

/// `/proc/meminfo`.
pub struct Memory {
    file: KernelFile,
    table: Table,
}

/// The lines of interest.
const MEMORY: [(&[u8], Metric); 5] = [
    (b"MemFree", Metric::FreeBytes),
    (b"MemAvailable", Metric::AvailableBytes),
    (b"Cached", Metric::CachedBytes),
    (b"Dirty", Metric::DirtyBytes),
    (b"Writeback", Metric::WritebackBytes),
];

impl Memory {
    pub fn new(opener: &mut Opener) -> Memory {
        let columns = MEMORY.map(|(_, metric)| Column::scaled(metric, 1024)).to_vec();
        Memory { file: opener.file("proc/meminfo"), table: Table::new(Layer::Memory, columns) }
    }
}

impl Source for Memory {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        let mut now = [None; MEMORY.len()];
        let whole = self.file.lines(opener, |line| {
            let Some((key, rest)) = split_once(line, b':') else { return };
            if let Some(index) = MEMORY.iter().position(|(word, _)| *word == key) {
                now[index] = words(rest).next().and_then(number);
            }
        });
        self.table.put(b"", &now, sample);
        self.table.end(sample);
        (!whole).then_some("/proc/meminfo")
    }
}

/// `/proc/pressure/*`.
pub struct Pressure {
    files: [(&'static str, KernelFile); 3],
    table: Table,
}

impl Pressure {
    pub fn new(opener: &mut Opener) -> Pressure {
        let files = ["cpu", "memory", "io"]
            .map(|name| (name, opener.file(&format!("proc/pressure/{name}"))));
        // The kernel counts microseconds.
        let columns = [Metric::SomeNs, Metric::FullNs].map(|metric| Column::scaled(metric, 1_000));
        Pressure { files, table: Table::new(Layer::Pressure, columns.to_vec()) }
    }
}

impl Source for Pressure {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        let mut any = false;
        for (name, file) in &mut self.files {
            let mut now = [None; 2];
            // A kernel with PSI switched off has the files and refuses to read them.
            let whole = file.lines(opener, |line| {
                let total = words(line).find_map(|word| after(word, "total=")).and_then(number);
                match words(line).next() {
                    Some(b"some") => now[0] = total,
                    Some(b"full") => now[1] = total,
                    _ => {}
                }
            });
            if whole {
                any = true;
                self.table.put(name.as_bytes(), &now, sample);
            }
        }
        self.table.end(sample);
        (!any)
            .then_some("/proc/pressure (PSI, which psi=1 on the kernel's command line switches on)")
    }
}
