//! Counts over a range whose end is not known beforehand, in constant memory.

/// Cells of a grid.
pub(super) const CELLS: usize = 4096;

/// Counts in cells of equal width, which doubles whenever the range grows beyond them.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    counts: Vec<u64>,
    width: u64,
}

impl Grid {
    /// With cells of `width` to begin with.
    pub(super) fn new(width: u64) -> Grid {
        Grid { counts: vec![0; CELLS], width: width.max(1) }
    }

    pub(super) fn add(&mut self, at: u64) {
        while at / self.width >= CELLS as u64 {
            for cell in 0..CELLS / 2 {
                self.counts[cell] = self.counts[2 * cell] + self.counts[2 * cell + 1];
            }
            self.counts[CELLS / 2..].fill(0);
            // What is told ends at 2⁶².
            self.width *= 2;
        }
        self.counts[(at / self.width) as usize] += 1;
    }

    /// How many cells are put together, of those that are used up to `end`.
    fn together(&self, end: u64, most: usize) -> (usize, usize) {
        let used = (end.div_ceil(self.width) as usize).clamp(1, CELLS);
        (used, used.div_ceil(most.max(1)))
    }

    /// The width of the cells of [`up_to`](Self::up_to).
    pub(super) fn width_up_to(&self, end: u64, most: usize) -> u64 {
        self.width.saturating_mul(self.together(end, most).1 as u64)
    }

    /// The counts up to `end`, put together into at most `most` cells of equal width but the last.
    pub(super) fn up_to(&self, end: u64, most: usize) -> Vec<u64> {
        let (used, together) = self.together(end, most);
        self.counts[..used].chunks(together).map(|cells| cells.iter().sum()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_that_grows_keeps_its_counts() {
        let mut grid = Grid::new(1);
        (0..10_000).for_each(|at| grid.add(at));
        assert_eq!(grid.width, 4);
        let cells = grid.up_to(10_000, 10);
        assert_eq!((cells.len(), cells.iter().sum::<u64>()), (10, 10_000));
        assert!(cells.iter().all(|count| count.abs_diff(1_000) < 20), "{cells:?}");
        grid.add(model::trace::MOST);
        assert_eq!(grid.up_to(u64::MAX, 1), [10_001]);
    }
}
