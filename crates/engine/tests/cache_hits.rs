//! What a cache finds of our own requests, beside what is reckoned of it: a cache of the least
//! recently used lines, under the generators of several workers.

use crate::common;
use catalogue::cluster::{Misses, Requests};
use engine::Generator;
use model::choices::Access;
use model::load::{HotSpots, Skew};
use model::plan::{Work, Worker};
use model::popularity::{Popularity, Touched};
use model::rng::derive;
use model::{Bytes, Op, Percent};
use std::collections::{BTreeMap, HashMap};

/// Lines in the order of their use.
#[derive(Default)]
struct Lru {
    used: HashMap<u64, u64>,
    order: BTreeMap<u64, u64>,
    clock: u64,
}

impl Lru {
    /// Uses a line, and says whether it was there among so many.
    fn touch(&mut self, line: u64, most: usize) -> bool {
        self.clock += 1;
        let before = self.used.insert(line, self.clock);
        if let Some(before) = before {
            self.order.remove(&before);
        }
        self.order.insert(self.clock, line);
        if self.used.len() > most {
            let (_, oldest) = self.order.pop_first().expect("more than none");
            self.used.remove(&oldest);
        }
        before.is_some()
    }
}

/// A load, and the cache that it meets.
#[derive(Clone)]
struct Case {
    name: &'static str,
    work: Work,
    workers: u64,
    /// All of them draw over the same bytes.
    is_shared: bool,
    part: u64,
    line: u64,
}

impl Case {
    fn new(name: &'static str, access: Access, milli: u32) -> Case {
        let mut work = common::work(Percent::ALL, access, 1, common::after_ms(1_000));
        work.pattern.skew = Skew { milli };
        work.pattern.hot_spots = "80%:10%, 10%:20%".parse::<HotSpots>().expect("spots");
        Case { name, work, workers: 4, is_shared: false, part: 2_048 * 4096, line: 4096 }
    }

    fn workers(&self) -> Vec<Worker> {
        let one = |worker| {
            let offset = if self.is_shared { 0 } else { worker * self.part };
            common::worker_at(derive(7, &[worker]), offset, self.part)
        };
        (0..self.workers).map(one).collect()
    }

    /// The share that a cache of a share of the footprint misses of the reads and of the writes
    /// that follow no other.
    fn counted(&self, fits: f64) -> [f64; 2] {
        let workers = self.workers();
        let mut generators: Vec<Generator> =
            workers.iter().map(|worker| Generator::new(&self.work, worker)).collect();
        let parts = if self.is_shared { 1 } else { self.workers };
        let lines = (self.part * parts) as f64 / self.line as f64;
        let (mut lru, most) = (Lru::default(), (fits * lines).round().max(1.0) as usize);
        let (mut asked, mut missed) = ([0_u64; 2], [0.0; 2]);
        let mut next: Vec<u64> = workers.iter().map(|worker| worker.extents[0].offset).collect();
        // As often again as it takes to fill the cache.
        let (warm, all) = (100_000, 200_000);
        for number in 0..all {
            let generator = &mut generators[number % workers.len()];
            let request = generator.next_request().expect("time decides");
            let next = &mut next[number % workers.len()];
            let is_random = self.work.pattern.random == Percent::ALL || request.offset != *next;
            if !is_random {
                let end = request.offset + u64::from(request.length);
                *next = if end.is_multiple_of(self.part) { end - self.part } else { end };
            }
            let first = request.offset / self.line;
            let last = (request.offset + u64::from(request.length) - 1) / self.line;
            let there: u64 = (first..=last).map(|line| u64::from(lru.touch(line, most))).sum();
            if number >= warm && is_random {
                let way = usize::from(request.op == Op::Write);
                asked[way] += 1;
                missed[way] += 1.0 - there as f64 / (last + 1 - first) as f64;
            }
        }
        [0, 1].map(|way| missed[way] / asked[way].max(1) as f64)
    }

    fn reckoned(&self, fits: f64) -> [f64; 2] {
        let workers = self.workers();
        let touched = Touched::on_host(workers.iter().map(|worker| &worker.extents[..]));
        let popularity = Popularity::of_work(&self.work, touched);
        let random = f64::from(self.work.pattern.random.ppm) / 1e6;
        let misses = Misses::new(&Requests {
            popularity: popularity.as_ref(),
            read: f64::from(self.work.read.ppm) / 1e6,
            random,
            line: Some(Bytes(self.line)),
            keeps_reads: true,
            keeps_writes: true,
        });
        [false, true].map(|is_write| misses.missing_evenly(is_write, fits).random)
    }
}

fn cases() -> Vec<Case> {
    let zipf = |name, milli| Case::new(name, Access::Zipf, milli);
    let mut cases = vec![
        Case::new("uniform", Access::Random, 0),
        zipf("zipf 0.6", 600),
        zipf("zipf 1.0", 1_000),
        zipf("zipf 1.2", 1_200),
        zipf("zipf 2", 2_000),
        Case::new("pareto 0.2", Access::Pareto, 200),
        Case::new("pareto 0.4", Access::Pareto, 400),
        Case::new("hot spots", Access::HotSpot, 0),
    ];
    cases.push(Case { line: 65_536, ..zipf("zipf 1, lines of 16 blocks", 1_000) });
    cases.push(Case { line: 65_536, ..Case::new("hot spots, lines", Access::HotSpot, 0) });
    cases.push(Case { is_shared: true, ..zipf("zipf 1.1 over the same bytes", 1_100) });
    cases.push(Case { workers: 1, part: 20_000 * 4096, ..zipf("zipf 0.9, one worker", 900) });
    let mut mixed = zipf("zipf 1.1, three tenths writes", 1_100);
    mixed.work.read = Percent::of(70);
    cases.push(mixed);
    let mut sizes = zipf("zipf 1.1, two sizes", 1_100);
    sizes.work.block_size = "4KiB:70, 16KiB:30".parse().expect("a mix");
    sizes.work.pattern.align = Bytes(4096);
    cases.push(sizes);
    let mut partly = zipf("zipf 1.1, partly in order", 1_100);
    partly.work.pattern.random = Percent::of(60);
    partly.work.pattern.follows_random = false;
    cases.push(partly);
    cases
}

#[test]
fn a_cache_misses_of_our_requests_what_is_reckoned() {
    let mut wrong = Vec::new();
    for case in cases() {
        for fits in [0.05, 0.2, 0.6] {
            let (counted, reckoned) = (case.counted(fits), case.reckoned(fits));
            let ways = if case.work.read == Percent::ALL { 1 } else { 2 };
            for way in 0..ways {
                let difference = reckoned[way] - counted[way];
                let line = format!(
                    "{}, {fits} fits, way {way}: {:.3} counted, {:.3} reckoned ({difference:+.3})",
                    case.name, counted[way], reckoned[way]
                );
                println!("{line}");
                if difference.abs() > 0.02 {
                    wrong.push(line);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
