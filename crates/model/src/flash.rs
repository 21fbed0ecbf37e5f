//! What flash comes to in the long run under random writes, in closed form.

use crate::units::Percent;

/// Rounds of the iteration; its error shrinks at each by more than half above 1 % of spare.
const ROUNDS: u32 = 10_000;

/// The share u of a block's pages that is still valid when the block is cleaned, in the long run of
/// random writes of pages, evenly over a device with so much spare: u = exp(−α·(1 − u)), with α =
/// all pages ÷ pages of the host.
///
/// Source: Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012, for cleaning the
/// oldest block (there: LRU). It follows from two counts: the log goes round once while the host
/// writes T·(1 − u) of its T pages, and a page survives each of these writes with the probability
/// 1 − 1 ÷ U. Exact in the limit of many blocks.
pub fn valid_share(spare: Percent) -> f64 {
    let alpha = 1.0 + f64::from(spare.ppm) / 1e6;
    // From below, the iteration rises to the lesser root; the other one is 1.
    (0..ROUNDS).fold(0.0, |valid: f64, _| (-alpha * (1.0 - valid)).exp())
}

/// Pages written to flash for each page that the host writes, in the same long run.
pub fn amplification(spare: Percent) -> f64 {
    1.0 / (1.0 - valid_share(spare))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_has_its_known_values() {
        // α = 1.25: u = exp(−1.25·(1 − u)) has the root 0.6286; α = 2: 0.2032.
        for (spare, valid) in [("25%", 0.628_6), ("100%", 0.203_2)] {
            let found = valid_share(spare.parse().expect("a share"));
            assert!((found - valid).abs() < 1e-4, "{spare}: {found}");
        }
    }
}
