//! Where whole runs send their requests, by the kernel's word: random orders, amounts, targets,
//! workers, repetitions and ramps on loop devices whose block tracepoints say what each was sent.

use super::number;
use crate::common::{Loop, has, plimsoll, scratch, text};
use crate::equivalence::kernel::Kernel;
use model::Op;
use model::rng::Rng;
use std::fs;
use std::path::Path;

/// Runs, where nobody says how many.
const RUNS: u64 = 24;
const MIB: u64 = 8;
const BLOCK: u64 = 4096;
/// Blocks of a device.
const BLOCKS: u64 = (MIB << 20) / BLOCK;
/// Requests of somebody else who looks at a device when it is opened.
const STRAY: u64 = 8;
/// Standard deviations: of thousands of runs, none is off by so many by chance.
const FAR: f64 = 6.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Random,
    Permutation,
    Zipf,
    Sequential,
    Backward,
}

/// A run that reads devices which are there.
#[derive(Clone, Copy, Debug)]
struct Case {
    order: Order,
    devices: u64,
    workers: u64,
    depth: u64,
    /// Blocks of each worker; `None` for a time.
    amount: Option<u64>,
    /// Before each repetition.
    ramp_ms: u64,
    repetitions: u64,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut rng = Rng::new(seed ^ 0x9_1ace5);
        let orders =
            [Order::Random, Order::Permutation, Order::Zipf, Order::Sequential, Order::Backward];
        let order = orders[rng.below(5) as usize];
        Case {
            order,
            devices: 1 + rng.below(2),
            workers: 1 + rng.below(3),
            depth: 1 + 3 * rng.below(2),
            amount: (rng.below(3) > 0).then(|| 100 + rng.below(400)),
            ramp_ms: 60 * rng.below(2),
            repetitions: 1 + rng.below(3),
        }
    }

    fn text(&self) -> String {
        let Case { order, workers, depth, ramp_ms, repetitions, .. } = *self;
        let access = match order {
            Order::Random => "random",
            Order::Permutation => "permutation",
            Order::Zipf => "zipf",
            Order::Sequential | Order::Backward => "sequential",
        };
        let ends = match self.amount {
            Some(blocks) => format!("amount = {}", blocks * BLOCK),
            None => "measure = \"120ms\"".to_owned(),
        };
        let is_backward = order == Order::Backward;
        format!(
            "name = \"places\"\n[sweep]\nrepetitions = {repetitions}\n[stages]\n\
             interval = \"20ms\"\nprepare = false\nprecondition = \"{ramp_ms}ms\"\n\
             flush = \"none\"\n{ends}\n[engine]\nbackend = \"io_uring\"\n[[workload]]\n\
             name = \"w\"\nread = \"100%\"\naccess = \"{access}\"\nbackward = {is_backward}\n\
             block_size = \"4KiB\"\nworkers = {workers}\ndepth = {depth}\n"
        )
    }

    /// Runs it; how often each block of each device was asked for.
    fn run(&self, devices: &[Loop], folder: &Path) -> Vec<Vec<u64>> {
        fs::write(folder.join("places.toml"), self.text()).expect("room");
        let devices = &devices[..self.devices as usize];
        let line = (
            "run places.toml --quiet --existing",
            devices
                .iter()
                .flat_map(|device| ["--target", text(&device.device)])
                .collect::<Vec<_>>(),
        );
        let kernels: Vec<Kernel> = devices.iter().map(Kernel::listen).collect();
        plimsoll(folder, &line).with_code(0);
        let counts = |kernel: Kernel| {
            let mut counts = vec![0; BLOCKS as usize];
            for sent in kernel.heard() {
                if sent.op == Op::Read && sent.length == BLOCK {
                    counts[(sent.offset / BLOCK) as usize] += 1;
                }
            }
            counts
        };
        kernels.into_iter().map(counts).collect()
    }

    /// What is wrong with where requests went.
    fn judge(&self, counts: &[Vec<u64>]) -> Vec<String> {
        let mut wrong = Vec::new();
        let all: Vec<u64> = counts.concat();
        let sent: u64 = all.iter().sum();
        if let (Some(amount), 0) = (self.amount, self.ramp_ms) {
            let due = amount * self.workers * self.repetitions;
            if !(due..=due + STRAY).contains(&sent) {
                wrong.push(format!("{sent} requests, and {due} are the amount"));
            }
        }
        match self.order {
            Order::Sequential | Order::Backward => self.in_order(&all, &mut wrong),
            Order::Random | Order::Permutation | Order::Zipf => self.spread(&all, &mut wrong),
        }
        wrong
    }

    /// Each worker asks for no block of its share again before it asked for all of them, whatever
    /// ramps and repetitions there are.
    fn in_order(&self, all: &[u64], wrong: &mut Vec<String>) {
        let total = all.len() as u64;
        for worker in 0..self.workers {
            let [from, to] = [worker, worker + 1].map(|at| (total * at / self.workers) as usize);
            let share = &all[from..to];
            let least = share.iter().min().copied().unwrap_or(0);
            let again: u64 = share.iter().map(|count| count.saturating_sub(least + 1)).sum();
            if again > STRAY {
                wrong.push(format!(
                    "worker {worker}: {again} blocks came again before others came {} times",
                    least + 1
                ));
            }
        }
    }

    /// Every worker's requests are all over its share, and a uniform order asks for as many
    /// different blocks as chance has it.
    fn spread(&self, all: &[u64], wrong: &mut Vec<String>) {
        let total = all.len() as u64;
        for worker in 0..self.workers {
            let [from, to] = [worker, worker + 1].map(|at| (total * at / self.workers) as usize);
            let share = &all[from..to];
            let sent: u64 = share.iter().sum();
            let parts = share.chunks(share.len().div_ceil(4)).map(|part| part.iter().sum::<u64>());
            let expected = sent as f64 / 4.0;
            let far = FAR * (sent as f64 * 3.0 / 16.0).sqrt() + STRAY as f64;
            for (part, had) in parts.enumerate() {
                let is_far = (had as f64 - expected).abs() > far;
                if if self.order == Order::Zipf { had == 0 && sent > 200 } else { is_far } {
                    wrong.push(format!("worker {worker}: {had} of {sent} in quarter {part}"));
                }
            }
            let different = share.iter().filter(|count| **count > 0).count() as f64;
            let places = share.len() as f64;
            let by_chance = places * (1.0 - (1.0 - 1.0 / places).powf(sent as f64));
            let is_few = different + FAR * by_chance.sqrt() + (STRAY as f64) < by_chance;
            if self.order != Order::Zipf && is_few {
                wrong.push(format!("worker {worker}: {different} places of {sent} requests"));
            }
        }
    }
}

#[test]
fn requests_go_where_the_suite_says_by_the_kernels_word() {
    let true = has("places of random runs", "losetup loop mount tracefs") else { return };
    let first = number("PLIMSOLL_RUNS_FIRST").unwrap_or(0);
    let count = number("PLIMSOLL_REAL_RUNS").unwrap_or(RUNS);
    let folder = scratch();
    let devices = [Loop::new(MIB), Loop::new(MIB)];
    for device in &devices {
        // Of requests that are sent together, the kernel merges those that adjoin.
        let merges = format!("/sys/block/{}/queue/nomerges", device.name());
        fs::write(merges, "2").expect("a device of ours");
    }
    let mut broken = Vec::new();
    for seed in first..first + count {
        let case = Case::new(seed);
        let wrong = case.judge(&case.run(&devices, &folder));
        if !wrong.is_empty() {
            broken.push(format!("seed {seed}: {case:?}: {}", wrong.join("; ")));
            eprintln!("{}", broken.last().expect("one"));
        }
        for entry in fs::read_dir(&folder).expect("there").flatten() {
            let _ = fs::remove_file(entry.path());
        }
    }
    assert!(broken.is_empty(), "{} of {count}:\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn places_that_are_wrong_are_found() {
    let case = Case {
        order: Order::Random,
        devices: 1,
        workers: 1,
        depth: 1,
        amount: Some(400),
        ramp_ms: 0,
        repetitions: 2,
    };
    let within = |blocks: u64, sent: u64| {
        let mut rng = Rng::new(5);
        let mut counts = vec![0; BLOCKS as usize];
        (0..sent).for_each(|_| counts[rng.below(blocks) as usize] += 1);
        vec![counts]
    };
    assert_eq!(case.judge(&within(BLOCKS, 800)), [""; 0]);
    assert!(!case.judge(&within(400, 800)).is_empty(), "narrowed");
    assert!(!case.judge(&within(BLOCKS, 700)).is_empty(), "too few");
    let in_order = Case { order: Order::Sequential, ..case };
    let passes = |each: &[u64]| {
        let mut counts = vec![0; BLOCKS as usize];
        each.iter().for_each(|sent| (0..*sent).for_each(|at| counts[at as usize] += 1));
        vec![counts]
    };
    assert_eq!(in_order.judge(&passes(&[800])), [""; 0]);
    assert!(!in_order.judge(&passes(&[400, 400])).is_empty(), "from the start again");
}
