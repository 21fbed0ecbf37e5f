//! What comes next of a population: births and deaths in balance, and everything else to a file
//! that is there.

use super::ledger::{Known, Ledger};
use model::Op;
use model::metadata::{FileShare, Tree};
use model::population::{Population, PopulationStage};
use model::rng::Rng;

/// One operation on one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) op: Op,
    /// Its place among the operations that the worker counts.
    pub(crate) slot: usize,
    /// The number of the file; of `readdir`: of its directory.
    pub(crate) number: u64,
    /// Bytes of the file before it; of a `create`: behind it.
    pub(crate) length: u32,
    /// Whether the file has its second name.
    pub(crate) renamed: bool,
    /// Bytes that it moves.
    pub(crate) moves: u32,
    /// The name among those of the worker.
    pub(crate) index: u64,
    /// Its number among the operations that the worker has chosen in this stage, from 1.
    pub(crate) ordinal: u64,
}

impl Step {
    /// An operation on a file that has the size that follows from its number, as all have in a
    /// tree that nothing else changes.
    pub(super) fn plain(tree: &Tree, slot: usize, op: Op, number: u64) -> Step {
        // Nobody asks for the length where no byte moves.
        let length = match op {
            Op::Create | Op::ReadFile | Op::WriteFile => {
                tree.size_of(number).0.min(u64::from(u32::MAX)) as u32
            }
            _ => 0,
        };
        Step { op, slot, number, length, renamed: false, moves: length, index: 0, ordinal: 0 }
    }
}

/// A worker's part of a population.
pub(crate) struct Life {
    population: Population,
    share: FileShare,
    rng: Rng,
    total: u64,
    target: u64,
    ledger: Ledger,
    /// Names that the filling has looked at: all of them once for those that are to have a file,
    /// then once more for any.
    looked: u64,
    /// Operations that were chosen.
    chosen: u64,
}

impl Life {
    /// Of a worker with the names of `share`, of whose files `ledger` knows.
    pub(crate) fn new(population: Population, share: FileShare, seed: u64, ledger: Ledger) -> Life {
        Life {
            population,
            share,
            rng: Rng::new(seed),
            total: population.mix.total(),
            target: population.target(share.count),
            ledger,
            looked: 0,
            chosen: 0,
        }
    }

    /// The same with all files there from the start, where nothing has to be made.
    pub(crate) fn settled(
        population: Population,
        share: FileShare,
        seed: u64,
        tree: &Tree,
    ) -> Life {
        let mut life = Life::new(population, share, seed, Ledger::new(share.count));
        if population.stage == PopulationStage::Live {
            while let Some(step) = life.fill(tree) {
                life.done(tree, &step);
            }
        }
        life
    }

    /// What it knows of its files.
    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The same, where it is over.
    pub(crate) fn into_ledger(self) -> Ledger {
        self.ledger
    }

    /// The next operation; `None` when all files are there that a filling is to make.
    #[inline]
    pub(crate) fn next(&mut self, tree: &Tree) -> Option<Step> {
        match self.population.stage {
            PopulationStage::Fill => self.fill(tree),
            PopulationStage::Live => Some(self.live(tree)),
        }
    }

    /// The place of an operation of the mix, drawn like any; nothing comes of it.
    pub(crate) fn any_slot(&mut self) -> usize {
        let op = self.population.mix.at(self.rng.below(self.total));
        self.slot(op)
    }

    /// Spreads the files evenly over the names, so that each directory has its part of them.
    fn fill(&mut self, tree: &Tree) -> Option<Step> {
        let names = self.ledger.names();
        let before = |place: u64| {
            (u128::from(place) * u128::from(self.target) / u128::from(names.max(1))) as u64
        };
        while self.ledger.living() < self.target && self.looked < 2 * names {
            let (place, is_any) = (self.looked % names, self.looked >= names);
            self.looked += 1;
            let is_chosen = is_any || before(place + 1) > before(place);
            if is_chosen && self.ledger.get(place).is_none() {
                return Some(self.step(tree, Op::Create, 0, place));
            }
        }
        None
    }

    fn live(&mut self, tree: &Tree) -> Step {
        let drawn = self.population.mix.at(self.rng.below(self.total));
        let op = if matches!(drawn, Op::Create | Op::Remove) { self.turnover() } else { drawn };
        let place = self.any(op != Op::Create);
        let slot = self.slot(op);
        self.step(tree, op, slot, place)
    }

    /// A birth below the wanted number and a death above it; at the number itself, chance decides.
    /// So births and deaths come in equal number, and there is never more than one file too many or
    /// too few.
    fn turnover(&mut self) -> Op {
        let is_birth = match self.ledger.living().cmp(&self.target) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal => self.rng.below(2) == 0,
            std::cmp::Ordering::Greater => false,
        };
        if is_birth { Op::Create } else { Op::Remove }
    }

    /// A name with a file or without one, each equally likely; any name where there is none such,
    /// which the file system then answers with an error.
    #[inline]
    fn any(&mut self, with_file: bool) -> u64 {
        let names = self.ledger.names();
        let living = self.ledger.living();
        let is_there = if with_file { living > 0 } else { living < names };
        loop {
            let place = self.rng.below(names);
            if !is_there || self.ledger.get(place).is_some() == with_file {
                return place;
            }
        }
    }

    fn slot(&self, op: Op) -> usize {
        self.population.mix.place(op)
    }

    #[inline]
    fn step(&mut self, tree: &Tree, op: Op, slot: usize, index: u64) -> Step {
        self.chosen += 1;
        let file = self.share.number(index);
        let size = tree.size_of(file).0 as u32;
        let known = self.ledger.get(index).unwrap_or(Known { length: 0, renamed: false });
        let length = match op {
            Op::Create => size,
            _ => known.length,
        };
        let moves = match op {
            Op::Create | Op::ReadFile | Op::WriteFile => length,
            Op::Append => self.population.append.0 as u32,
            _ => 0,
        };
        let number = match op {
            Op::Readdir if tree.depth == 0 => 0,
            Op::Readdir => file / tree.per_directory.max(1),
            _ => file,
        };
        let renamed = known.renamed && op != Op::Create;
        Step { op, slot, number, length, renamed, moves, index, ordinal: self.chosen }
    }

    /// A step did what it was to do.
    #[inline]
    pub(crate) fn done(&mut self, tree: &Tree, step: &Step) {
        let Step { length, renamed, .. } = *step;
        let known = match step.op {
            Op::Create => Some(Known { length, renamed: false }),
            Op::Append => Some(Known { length: length.saturating_add(step.moves), renamed }),
            Op::Truncate => Some(Known { length: tree.size_of(step.number).0 as u32, renamed }),
            Op::Rename => Some(Known { length, renamed: !renamed }),
            Op::Remove => None,
            _ => return,
        };
        self.ledger.set(step.index, known);
    }

    /// A step failed, and this is what the file system has of its file now; `None` where it does
    /// not say. Then the file is held to be as it was: a birth to have failed, anything else to
    /// have changed nothing.
    pub(crate) fn found(&mut self, step: &Step, known: Option<Option<Known>>) {
        match known {
            _ if step.op == Op::Readdir => {}
            Some(known) => self.ledger.set(step.index, known),
            None => self.ledger.guess(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::population::LivingMix;
    use model::units::{Bytes, Percent};
    use std::collections::BTreeMap;

    fn tree(files: u64) -> Tree {
        crate::common::tree("/t", files, 100)
    }

    fn life(names: u64, stage: PopulationStage) -> Life {
        let parts = [
            (Op::Create, 2),
            (Op::ReadFile, 3),
            (Op::Append, 2),
            (Op::Truncate, 1),
            (Op::Rename, 1),
            (Op::Remove, 2),
        ];
        let mix = LivingMix::new(&parts).expect("a good mix");
        let population = Population { mix, fill: Percent::of(80), append: Bytes(10), stage };
        let share = FileShare { tree: 0, first: 0, step: 1, count: names };
        Life::settled(population, share, 7, &tree(names))
    }

    #[test]
    fn births_and_deaths_keep_the_number_within_one() {
        let (names, tree) = (1_000, tree(1_000));
        let mut life = life(names, PopulationStage::Live);
        assert_eq!((life.ledger.living(), life.ledger.bytes()), (800, 80_000));
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let (mut least, mut most) = (u64::MAX, 0);
        for _ in 0..110_000 {
            let step = life.next(&tree).expect("a mix has no end");
            let was = life.ledger.get(step.index);
            assert_eq!(was.is_none(), step.op == Op::Create, "births go to free names alone");
            *counts.entry(step.op.name()).or_default() += 1;
            life.done(&tree, &step);
            (least, most) = (least.min(life.ledger.living()), most.max(life.ledger.living()));
        }
        assert_eq!((least, most), (799, 801));
        let of = |op: Op| counts.get(op.name()).copied().unwrap_or(0);
        assert!(of(Op::Create).abs_diff(of(Op::Remove)) <= 1);
        // Four of eleven weights are births and deaths: 40,000 of 110,000, whose σ is 160.
        assert!((of(Op::Create) + of(Op::Remove)).abs_diff(40_000) < 640);
        assert!(of(Op::ReadFile).abs_diff(30_000) < 600);
        // Two appends for three deaths and truncations: 2/3 of an append for each file, within 4 σ
        // of 800 files, which are 4 × √(800 × 2/3 × 5/3) appends.
        let extra = life.ledger.bytes() - life.ledger.living() * 100;
        assert!(extra.abs_diff(5_333) < 1_200, "{extra} bytes of appends");
        assert!(extra <= life.population.grown(800).0);
    }

    #[test]
    fn a_filling_makes_as_many_as_are_to_live_and_no_more() {
        let tree = tree(100);
        let mut life = life(100, PopulationStage::Fill);
        life.ledger.set(99, Some(Known { length: 100, renamed: true }));
        let mut made = Vec::new();
        while let Some(step) = life.next(&tree) {
            assert_eq!((step.op, step.slot, step.moves), (Op::Create, 0, 100));
            made.push(step.number);
            life.done(&tree, &step);
        }
        assert_eq!((made.len(), life.ledger.living()), (79, 80), "one was there");
        for directory in 0..10 {
            let here = made.iter().filter(|number| **number / 10 == directory).count();
            assert!((7..=8).contains(&here), "evenly over the directories: {here}");
        }
    }

    #[test]
    fn what_others_removed_is_born_again() {
        let tree = tree(100);
        let mut life = life(100, PopulationStage::Live);
        for index in 0..100 {
            life.ledger.set(index, None);
        }
        for _ in 0..2_000 {
            let step = life.next(&tree).expect("goes on");
            match life.ledger.get(step.index).is_some() || step.op == Op::Create {
                true => life.done(&tree, &step),
                false => life.found(&step, Some(None)),
            }
        }
        assert!(life.ledger.living().abs_diff(80) <= 1, "{}", life.ledger.living());
    }
}
