//! Small symmetric matrices.

/// A symmetric matrix, in full.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Symmetric {
    size: usize,
    entries: Vec<f64>,
}

impl Symmetric {
    pub(super) fn zero(size: usize) -> Symmetric {
        Symmetric { size, entries: vec![0.0; size * size] }
    }

    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.size + column]
    }

    fn set(&mut self, row: usize, column: usize, value: f64) {
        self.entries[row * self.size + column] = value;
    }

    /// Adds to one entry of the diagonal, or to both that mirror each other.
    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.set(row, column, self.at(row, column) + value);
        if row != column {
            self.set(column, row, self.at(column, row) + value);
        }
    }

    /// Adds `weight`·v·vᵀ.
    pub(super) fn add_outer(&mut self, vector: &[f64], weight: f64) {
        for (row, one) in vector.iter().enumerate() {
            for (column, other) in vector.iter().enumerate() {
                self.entries[row * self.size + column] += weight * one * other;
            }
        }
    }

    /// The same times a factor.
    pub(super) fn scaled(&self, factor: f64) -> Symmetric {
        let entries = self.entries.iter().map(|entry| entry * factor).collect();
        Symmetric { size: self.size, entries }
    }

    /// The sum of two of one size.
    pub(super) fn plus(&self, other: &Symmetric) -> Symmetric {
        let entries = self.entries.iter().zip(&other.entries).map(|(one, two)| one + two);
        Symmetric { size: self.size, entries: entries.collect() }
    }

    /// The rows and columns with these numbers alone.
    pub(super) fn picked(&self, numbers: &[usize]) -> Symmetric {
        let mut picked = Symmetric::zero(numbers.len());
        for (row, from_row) in numbers.iter().enumerate() {
            for (column, from_column) in numbers.iter().enumerate() {
                picked.set(row, column, self.at(*from_row, *from_column));
            }
        }
        picked
    }

    /// aᵀ·M·b.
    pub(super) fn between(&self, a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(self.times(b)).map(|(one, other)| one * other).sum()
    }

    /// M·v.
    pub(super) fn times(&self, vector: &[f64]) -> Vec<f64> {
        self.entries
            .chunks(self.size)
            .map(|row| row.iter().zip(vector).map(|(one, other)| one * other).sum())
            .collect()
    }

    /// The lower triangle L of a positive definite matrix L·Lᵀ, by Cholesky's decomposition (Golub
    /// and Van Loan, *Matrix Computations*, 3rd edition, 1996, 4.2), which needs no pivots. What is
    /// above the diagonal is 0.
    pub(super) fn lower(&self) -> Symmetric {
        let size = self.size;
        let mut lower = Symmetric::zero(size);
        for row in 0..size {
            for column in 0..=row {
                let before: f64 = (0..column).map(|k| lower.at(row, k) * lower.at(column, k)).sum();
                let left = self.at(row, column) - before;
                let value = if row == column {
                    // Rounding alone makes it less.
                    left.max(1e-300).sqrt()
                } else {
                    left / lower.at(column, column)
                };
                lower.set(row, column, value);
            }
        }
        lower
    }

    /// The vector that a lower triangle makes this one of.
    pub(super) fn solved(&self, vector: &[f64]) -> Vec<f64> {
        let mut solved = vec![0.0; self.size];
        for row in 0..self.size {
            let before: f64 = (0..row).map(|k| self.at(row, k) * solved[k]).sum();
            solved[row] = (vector[row] - before) / self.at(row, row);
        }
        solved
    }

    /// The inverse of a positive definite matrix.
    pub(super) fn inverse(&self) -> Symmetric {
        let size = self.size;
        let lower = self.lower();
        let mut inverse = Symmetric::zero(size);
        for column in 0..size {
            let mut wanted = vec![0.0; size];
            wanted[column] = 1.0;
            let mut solved = lower.solved(&wanted);
            for row in (0..size).rev() {
                let behind: f64 = (row + 1..size).map(|k| lower.at(k, row) * solved[k]).sum();
                solved[row] = (solved[row] - behind) / lower.at(row, row);
            }
            for (row, value) in solved.into_iter().enumerate() {
                inverse.set(row, column, value);
            }
        }
        inverse
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::rng::Rng;

    #[test]
    fn a_matrix_and_its_inverse_are_one() {
        let mut rng = Rng::new(3);
        let mut matrix = Symmetric::zero(12);
        for index in 0..12 {
            matrix.add(index, index, 0.1);
        }
        for _ in 0..20 {
            let vector: Vec<f64> = (0..12).map(|_| rng.unit() - 0.5).collect();
            matrix.add_outer(&vector, 5.0);
        }
        let inverse = matrix.inverse();
        for row in 0..12 {
            let mut unit = vec![0.0; 12];
            unit[row] = 1.0;
            let found = matrix.times(&inverse.times(&unit));
            for (column, value) in found.iter().enumerate() {
                assert!((value - unit[column]).abs() < 1e-9, "{row} {column}: {value}");
            }
        }
        assert!((inverse.between(&[1.0; 12], &[1.0; 12])).is_sign_positive());
    }
}
