//! How long somebody who says nothing is waited for, while others show how long an answer takes.
//! Pure.

use std::time::Duration;

/// Nobody is given up before.
const LEAST: Duration = Duration::from_secs(5);
/// And not before so many times the longest answer of another host.
const TIMES: u32 = 2;

/// How long an answer is waited for, where somebody waits for it: `longest` is what the slowest of
/// the others took so far, and hosts that are not there are tried for `within`. `None` where nobody
/// answered yet.
pub(super) fn limit(longest: Option<Duration>, within: Duration) -> Option<Duration> {
    Some(longest?.saturating_mul(TIMES).max(LEAST).max(within))
}

/// Tries that are under way, and how long those took that were answered.
#[derive(Debug, Default)]
pub(super) struct Answers {
    pub(super) longest: Option<Duration>,
}

impl Answers {
    /// A host answered behind so long.
    pub(super) fn came(&mut self, took: Duration) {
        self.longest = self.longest.max(Some(took));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_of_the_others_says_how_long_and_nobody_else() {
        let seconds = Duration::from_secs;
        assert_eq!(limit(None, seconds(0)), None, "nobody shows what is usual");
        let mut answers = Answers::default();
        answers.came(seconds(1));
        assert_eq!(limit(answers.longest, seconds(0)), Some(LEAST));
        answers.came(seconds(9));
        answers.came(seconds(2));
        assert_eq!(limit(answers.longest, seconds(0)), Some(seconds(18)));
        assert_eq!(limit(answers.longest, seconds(300)), Some(seconds(300)), "as its user says");
    }
}
