//! Rounds of all points, until what is tracked is steady.

use super::Addition;
use crate::plan::Plan;

impl Plan {
    /// Whether the last round is not whole yet.
    pub fn is_within_round(&self) -> bool {
        let rest = (self.points.len() as u64).checked_rem(u64::from(self.rounds.points));
        rest.is_some_and(|rest| rest > 0)
    }

    /// The point that follows in the rounds, behind those that there are. `None` where the greatest
    /// number of rounds is reached, or the plan has none.
    pub fn next_in_rounds(&self) -> Option<Addition> {
        let (number, each) = (self.points.len() as u64, u64::from(self.rounds.points));
        let round = number.checked_div(each)?;
        if round >= u64::from(self.rounds.most) {
            return None;
        }
        let of = u32::try_from(number % each).ok()?;
        let mut point = self.points.get(of as usize)?.clone();
        point.repetition = u32::try_from(round + 1).ok()?;
        self.like(of, point, |_, _| {})
    }
}
