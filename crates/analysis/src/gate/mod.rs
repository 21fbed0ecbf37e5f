//! A gate: is the head worse than the base, better, or is there no change of a given size? It
//! looks after every pair of runs, stops as soon as it knows, and says when it cannot know.
//!
//! `evidence` has the test, `needed` what it takes, `recorded` the test against runs that
//! were recorded before, and `figures` what a run is judged by. Sources and simulations are in
//! `docs/method/gate.md`.

mod evidence;
mod figures;
mod host_class;
pub(crate) mod needed;
#[cfg(any(test, feature = "testing"))]
pub mod noise;
mod recorded;

pub use figures::{BadChoice, Choice, Subject, figures};
pub use host_class::unlike_hosts;
pub use recorded::{Measured, Sides, planned_runs, recorded};

use crate::estimate::Interval;
use evidence::{Beyond, Side};
use needed::Errors;

/// More pairs are not compared: each look goes over all of them.
pub const MOST_PAIRS: usize = 2_000;

/// What a gate is to find, and how often it may err.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// The change that is to be found, in percent, above 0.
    pub detect_percent: f64,
    /// The probability with which a change of this size is found where there is time enough: it is
    /// waved through with a probability of at most 1 − power.
    pub power: f64,
    /// The probability with which equals are called worse or better, all figures together.
    pub alpha: f64,
}

impl Terms {
    /// The change that is to be found, as a logarithm: what is slower by it, or faster.
    fn design(&self) -> f64 {
        (self.detect_percent / 100.0).ln_1p()
    }

    /// What each of so many figures may err. Equals are called different in any of them with
    /// `alpha` (Bonferroni). To be called unchanged all have to be, which needs no correction
    /// (Berger, *Technometrics* 24, 1982).
    fn errors(&self, figures: usize) -> Errors {
        Errors {
            false_alarm: self.alpha / (2.0 * figures.max(1) as f64),
            miss: 1.0 - self.power,
            power: self.power,
        }
    }
}

/// What a gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is no change as large as the one that is to be found.
    NoChange,
    /// The head is worse.
    Regression,
    /// The head is better.
    Improvement,
    /// Nobody knows.
    CannotTell,
}

impl Answer {
    /// A stable word for machines.
    pub fn word(self) -> &'static str {
        match self {
            Answer::NoChange => "no-change",
            Answer::Regression => "regression",
            Answer::Improvement => "improvement",
            Answer::CannotTell => "cannot-tell",
        }
    }
}

/// What is known of one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// What can be said of it.
    pub answer: Answer,
    /// The change from base to head, in percent of the base; `None` before the first pair.
    pub percent: Option<f64>,
    /// Where the change lies, in percent. An end is infinite where there are too few pairs.
    pub interval: Interval,
    /// The probability with which the interval holds the change, over all figures together: 1 −
    /// alpha. For [`Answer::NoChange`] that of two one-sided tests, 1 − 2 × the probability of a
    /// miss (Schuirmann, *Journal of Pharmacokinetics and Biopharmaceutics* 15, 1987).
    pub confidence: f64,
    /// The least change that so much data find or exclude, in percent; `None` where they find none.
    pub visible_percent: Option<f64>,
    /// The pairs that it takes to find or exclude the change that is to be found; against recorded
    /// runs, the runs of the head; `None` where no number of them would do, or nobody knows.
    pub needed: Option<u64>,
}

/// Pairs of runs so far.
#[derive(Clone, Debug)]
pub struct Gate {
    terms: Terms,
    subjects: Vec<Subject>,
    watched: Vec<Watched>,
}

/// What is known of one figure.
#[derive(Clone, Debug)]
struct Watched {
    /// The logarithm of head ÷ base of each pair.
    pairs: Vec<f64>,
    above: Beyond,
    below: Beyond,
    not_more: Beyond,
    not_less: Beyond,
}

impl Watched {
    fn new(design: f64, errors: Errors) -> Watched {
        let Errors { false_alarm, miss, .. } = errors;
        Watched {
            pairs: Vec::new(),
            above: Beyond::new(0.0, Side::Above, design, false_alarm),
            below: Beyond::new(0.0, Side::Below, design, false_alarm),
            not_more: Beyond::new(design, Side::Below, design, miss),
            not_less: Beyond::new(-design, Side::Above, design, miss),
        }
    }

    fn add(&mut self, difference: f64) {
        self.pairs.push(difference);
        for beyond in [&mut self.above, &mut self.below, &mut self.not_more, &mut self.not_less] {
            beyond.add(&self.pairs);
        }
    }

    fn known(&self) -> Known {
        Known {
            small: self.not_more.is_refuted() && self.not_less.is_refuted(),
            higher: self.above.is_refuted(),
            lower: self.below.is_refuted(),
        }
    }

    /// What no look refuted.
    fn interval(&self, per_side: f64, design: f64) -> Interval {
        let all = [&self.above, &self.below, &self.not_more, &self.not_less];
        let seen = evidence::interval(&self.pairs, per_side, design);
        all.iter().fold(seen, |known, beyond| beyond.cut(known, per_side))
    }
}

impl Gate {
    /// One without pairs yet.
    pub fn new(terms: Terms, subjects: Vec<Subject>) -> Gate {
        let watched = Watched::new(terms.design(), terms.errors(subjects.len()));
        let watched = vec![watched; subjects.len()];
        Gate { terms, subjects, watched }
    }

    /// What it watches.
    pub fn subjects(&self) -> &[Subject] {
        &self.subjects
    }

    /// How many pairs it has.
    pub fn pairs(&self) -> usize {
        self.watched.first().map_or(0, |watched| watched.pairs.len())
    }

    /// Takes in a pair: the logarithm of head ÷ base of each subject, in their order.
    ///
    /// # Panics
    /// There are not as many as subjects.
    pub fn add(&mut self, logarithms: &[f64]) {
        assert_eq!(logarithms.len(), self.subjects.len(), "a difference for each subject");
        for (watched, logarithm) in self.watched.iter_mut().zip(logarithms) {
            watched.add(*logarithm);
        }
    }

    /// The answer to all of it as far as it is known. Anything but [`Answer::CannotTell`] is final.
    pub fn answer(&self) -> Answer {
        together(self.answers())
    }

    fn answers(&self) -> impl Iterator<Item = Answer> {
        let both = self.watched.iter().zip(&self.subjects);
        both.map(|(watched, subject)| watched.known().answer(subject.more_is_better()))
    }

    /// What is known of each figure.
    pub fn judged(&self) -> Vec<Judged> {
        let both = self.watched.iter().zip(self.answers());
        both.map(|(watched, answer)| self.judge(watched, answer)).collect()
    }

    fn judge(&self, watched: &Watched, answer: Answer) -> Judged {
        let errors = self.terms.errors(self.subjects.len());
        let (pairs, design) = (&watched.pairs, self.terms.design());
        let (per_side, confidence) = shown(self.terms, errors, answer);
        let spread = evidence::spread(pairs);
        let is_known = pairs.len() > 1;
        Judged {
            answer,
            percent: evidence::centre(pairs).map(percent),
            interval: watched.interval(per_side, design).map(percent),
            confidence,
            visible_percent: needed::visible(pairs.len() as u64, spread, errors).map(percent),
            needed: is_known.then(|| needed::pairs(design, spread, errors)),
        }
    }
}

/// What is known of a difference.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Its size is below that of the change that is to be found.
    small: bool,
    /// The head has more.
    higher: bool,
    /// The head has less.
    lower: bool,
}

impl Known {
    fn answer(self, more_is_better: bool) -> Answer {
        match self {
            Known { small: true, .. } => Answer::NoChange,
            Known { higher: true, lower: false, .. } if more_is_better => Answer::Improvement,
            Known { higher: true, lower: false, .. } => Answer::Regression,
            Known { higher: false, lower: true, .. } if more_is_better => Answer::Regression,
            Known { higher: false, lower: true, .. } => Answer::Improvement,
            _ => Answer::CannotTell,
        }
    }
}

/// What several figures say together: one that is worse decides, and what is unchanged or better
/// has to be so in all.
pub fn together(answers: impl IntoIterator<Item = Answer>) -> Answer {
    let answers: Vec<Answer> = answers.into_iter().collect();
    let any = |wanted: Answer| answers.contains(&wanted);
    if any(Answer::Regression) {
        Answer::Regression
    } else if any(Answer::CannotTell) || answers.is_empty() {
        Answer::CannotTell
    } else if any(Answer::Improvement) {
        Answer::Improvement
    } else {
        Answer::NoChange
    }
}

/// What the interval of an answer leaves out on each side, and what it holds.
fn shown(terms: Terms, errors: Errors, answer: Answer) -> (f64, f64) {
    match answer {
        Answer::NoChange => (errors.miss, 1.0 - 2.0 * errors.miss),
        _ => (errors.false_alarm, 1.0 - terms.alpha),
    }
}

/// A logarithm as a change in percent.
fn percent(logarithm: f64) -> f64 {
    100.0 * logarithm.exp_m1()
}

#[cfg(test)]
mod tests;
