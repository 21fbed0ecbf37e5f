//! What came of watching: which hosts are still heard of. Pure; the performer tells it what it hears and when.

use model::CounterSample;

/// What somebody who watches a fleet gets to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watched {
    /// What a host's kernel counted in an interval; its `host` is the number in the fleet's order.
    Counters(Box<CounterSample>),
    /// A host is gone; nothing comes from it any more.
    Lost {
        /// Its number.
        host: u32,
        /// What is known of the reason, in words.
        why: String,
    },
}

/// Who is there, and when each was heard of.
#[derive(Debug)]
pub(crate) struct Watch {
    /// When a host was last heard of, in ns; `None` for one that is lost.
    heard_ns: Vec<Option<u64>>,
    lost_after_ns: u64,
}

impl Watch {
    /// All hosts are there at `now_ns`. One is lost after so long a silence, in ns; 0 is never.
    pub(crate) fn new(hosts: usize, lost_after_ns: u64, now_ns: u64) -> Watch {
        Watch { heard_ns: vec![Some(now_ns); hosts], lost_after_ns }
    }

    /// A host gave a sign of life. False for one that was given up, or never was.
    pub(crate) fn heard(&mut self, host: usize, now_ns: u64) -> bool {
        let slot = self.heard_ns.get_mut(host).and_then(Option::as_mut);
        slot.map(|heard| *heard = now_ns.max(*heard)).is_some()
    }

    /// A host is gone. False where that is no news.
    pub(crate) fn lose(&mut self, host: usize) -> bool {
        self.heard_ns.get_mut(host).and_then(Option::take).is_some()
    }

    /// The hosts that have been silent for too long; they are lost from now on.
    pub(crate) fn silent(&mut self, now_ns: u64) -> Vec<usize> {
        let limit = self.lost_after_ns;
        let late = |heard: &Option<u64>| heard.is_some_and(|heard| limit > 0 && now_ns.saturating_sub(heard) > limit);
        let hosts: Vec<usize> =
            self.heard_ns.iter().enumerate().filter(|(_, heard)| late(heard)).map(|(host, _)| host).collect();
        hosts.iter().for_each(|host| self.heard_ns[*host] = None);
        hosts
    }

    /// Whether nobody is left.
    pub(crate) fn is_over(&self) -> bool {
        self.heard_ns.iter().all(Option::is_none)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_host_is_lost_once_and_stays_lost() {
        let mut watch = Watch::new(2, 100, 0);
        assert!(watch.heard(0, 50));
        assert_eq!(watch.silent(100), Vec::<usize>::new());
        assert_eq!(watch.silent(101), [1]);
        assert!(!watch.heard(1, 102) && !watch.lose(1), "given up");
        assert!(watch.silent(102).is_empty() && !watch.is_over());
        assert!(watch.lose(0) && watch.is_over());
    }

    #[test]
    fn without_a_limit_silence_is_no_loss_and_numbers_that_are_none_do_no_harm() {
        let mut watch = Watch::new(1, 0, 0);
        assert!(watch.silent(u64::MAX).is_empty());
        assert!(!watch.heard(7, 0) && !watch.lose(7));
    }
}
