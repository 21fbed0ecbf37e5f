//! What flash comes to in the long run under random writes, in closed form.

use crate::units::Percent;

/// Rounds of the iteration; its error shrinks at each by more than half above 1 % of spare.
const ROUNDS: u32 = 10_000;

/// All pages ÷ pages of the host, of a device with so much spare.
fn pages_per_page(spare: Percent) -> f64 {
    1.0 + f64::from(spare.ppm) / 1e6
}

/// The share u of a block's pages that is still valid when the block is cleaned, in the long run of
/// random writes of pages, evenly over all that hold data: u = exp(−α·(1 − u)), where there are α
/// (above 1) times as many pages as pages with data.
///
/// Source: Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012, for cleaning the
/// oldest block (there: LRU). It follows from two counts: the log goes round once while the host
/// writes T·(1 − u) of its T pages, and a page survives each of these writes with the probability
/// 1 − 1 ÷ U. Exact in the limit of many blocks.
fn valid(alpha: f64) -> f64 {
    // From below, the iteration rises to the lesser root; the other one is 1.
    (0..ROUNDS).fold(0.0, |valid: f64, _| (-alpha * (1.0 - valid)).exp())
}

/// The share of a block's pages that is still valid when it is cleaned, on a full device with so
/// much spare.
pub fn valid_share(spare: Percent) -> f64 {
    valid(pages_per_page(spare))
}

/// Pages written to flash for each page that the host writes, on a full device with so much spare.
pub fn amplification(spare: Percent) -> f64 {
    amplification_of(pages_per_page(spare))
}

/// Pages written to flash for each page that is written at random, evenly over all that holds data,
/// in the long run, where there are `alpha` (above 1) times as many pages as pages with data.
pub fn amplification_of(alpha: f64) -> f64 {
    1.0 / (1.0 - valid(alpha))
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
