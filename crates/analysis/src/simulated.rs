//! Series with a known answer, for tests of the statistics.

use model::rng::Rng;

/// Normal random numbers from one seed, by Box and Muller (1958).
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
}

/// `n` values of a stationary first-order autoregression: each remembers the share `phi` of the one before.
pub fn autoregressive(normal: &mut Normal, n: usize, phi: f64, mean: f64, deviation: f64) -> Vec<f64> {
    let mut state = normal.draw();
    let mut values = Vec::with_capacity(n);
    for _ in 0..n {
        values.push(mean + deviation * state);
        state = phi * state + (1.0 - phi * phi).sqrt() * normal.draw();
    }
    values
}
