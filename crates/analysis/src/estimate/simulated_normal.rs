//! Normal random numbers, for simulations.

use model::rng::Rng;

/// Normal random numbers from one seed, by Box and Muller (1958).
#[derive(Debug)]
pub struct Normal(Rng);

impl Normal {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Normal {
        Normal(Rng::new(seed))
    }

    /// The next number of mean 0 and variance 1.
    pub fn draw(&mut self) -> f64 {
        let radius: f64 = (-2.0 * f64::ln(1.0 - self.0.unit())).sqrt();
        radius * (std::f64::consts::TAU * self.0.unit()).cos()
    }

    /// A number from 0 to 1, each equally likely.
    #[cfg(test)]
    pub fn unit(&mut self) -> f64 {
        self.0.unit()
    }
}
