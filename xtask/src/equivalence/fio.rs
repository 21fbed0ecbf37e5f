//! Drawn jobs of fio, held against it.

use super::draw::{self, Job};
use super::judge::{Difference, Facts, Kind, LONG, differences};
use super::machine::{Bench, Ours};
use super::{Lost, Oracle, Verdict};
use crate::shell::Outcome;

impl Oracle for Bench {
    type Job = Job;

    fn draw(&self, seed: u64) -> Job {
        draw::draw(seed)
    }

    fn lost(&self, job: &Job) -> Result<Vec<Lost>, String> {
        Bench::lost(self, job)
    }

    fn smaller(&self, job: &Job) -> Vec<Job> {
        job.smaller()
    }

    fn hold(&self, job: &Job, jobs: u64) -> Outcome<Verdict> {
        if !self.parses(job) {
            return Err(String::new());
        }
        let lost = match Bench::lost(self, job) {
            Ok(lost) => lost,
            Err(words) => return Ok(Verdict::Refused(words)),
        };
        let is_long = lost.iter().any(|(_, why)| why.contains(LONG));
        let more: &[&str] = if is_long { &["--set", "measure=1s"] } else { &[] };
        let ours = match self.ours(job, more) {
            Ours::Refused(words) => return Ok(Verdict::Refused(words)),
            Ours::Ran(ours) => Ok(ours),
            Ours::Failed(how) => Err(how),
            Ours::Lost(how) => return Err(how),
        };
        let theirs = [self.fio(job, false)?, self.fio(job, true)?];
        let ours = match ours {
            Ok(ours) => ours,
            Err(how) => return Ok(Verdict::Unstated(vec![(Kind::Failure, how)])),
        };
        let mut facts = Facts::of(job);
        facts.timed |= is_long;
        let mut found = differences(facts, [&theirs[0], &theirs[1]], &ours, jobs);
        if !found.is_empty() {
            // Once more: the machine may have been busy, or two draws alike.
            let other = self.fio(job, true)?;
            let Ours::Ran(ours) = self.ours(job, more) else {
                return Ok(Verdict::Unstated(found));
            };
            let again = differences(facts, [&theirs[0], &other], &ours, jobs);
            found.retain(|(kind, _)| again.iter().any(|(same, _)| same == kind));
        }
        found.extend(is_long.then(|| (Kind::Amount, format!("ours takes {LONG}"))));
        let explains = |(option, why): &Lost, (kind, _): &Difference| kind.is_of(option, why);
        Ok(Verdict::of(found, lost, explains))
    }
}
