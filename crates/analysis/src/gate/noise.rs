//! Simulated machines for a gate: how far a run strays because of when it runs. What is simulated
//! is a logarithm: 0.03 is 3 % more.

use crate::estimate::simulated_normal::Normal;
use model::rng::Rng;

model::plain_words! {
    /// A kind of noise.
    pub enum Noise {
        /// Independent and normal.
        White = "white",
        /// Normal, on a level that falls by 0.3 % a run and swings by 5 %.
        Drift = "drift",
        /// Each run remembers nine tenths of the one before.
        Autoregressive = "autocorrelated",
        /// Normal, and now and then slower by a fifth for some runs.
        Bursts = "bursts",
        /// Student's t with two degrees of freedom: no variance at all.
        HeavyTails = "heavy tails",
        /// One of two levels, 12 % apart, for some runs each.
        Bimodal = "two levels",
    }
}

/// A machine on which runs stray.
#[derive(Debug)]
pub struct Machine {
    noise: Noise,
    normal: Normal,
    coins: Rng,
    runs: f64,
    state: f64,
    is_slow: bool,
}

impl Machine {
    /// A machine with this noise; everything follows from the seed.
    pub fn new(noise: Noise, seed: u64) -> Machine {
        let mut normal = Normal::new(seed);
        let (state, coins) = (normal.draw(), Rng::new(!seed));
        Machine { noise, normal, coins, runs: 0.0, state, is_slow: false }
    }

    /// The logarithm of the next run's figure.
    fn run(&mut self) -> f64 {
        self.runs += 1.0;
        let white = self.normal.draw();
        match self.noise {
            Noise::White => 0.06 * white,
            Noise::Drift => 0.04 * white - 0.003 * self.runs + 0.05 * (self.runs / 15.0).sin(),
            Noise::Autoregressive => {
                self.state = 0.9 * self.state + 0.19f64.sqrt() * white;
                0.1 * self.state
            }
            Noise::Bursts => {
                self.turn(0.08, 0.4);
                0.03 * white - if self.is_slow { 0.2 } else { 0.0 }
            }
            Noise::HeavyTails => {
                let squares = self.normal.draw().powi(2) + self.normal.draw().powi(2);
                0.03 * white / (squares / 2.0).sqrt().max(1e-9)
            }
            Noise::Bimodal => {
                self.turn(0.3, 0.3);
                0.02 * white - if self.is_slow { 0.12 } else { 0.0 }
            }
        }
    }

    /// Becomes slow, or as before, with these probabilities.
    fn turn(&mut self, becomes: f64, ends: f64) {
        let draw = self.coins.unit();
        self.is_slow = if self.is_slow { draw >= ends } else { draw < becomes };
    }

    /// The next pair: the logarithm of head ÷ base, where the head has `shift` more.
    pub fn pair(&mut self, shift: f64) -> f64 {
        let (first, second) = (self.run(), self.run());
        let swapped = self.coins.below(2) == 1;
        shift + if swapped { first - second } else { second - first }
    }
}
