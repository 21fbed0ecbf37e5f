//! What came of watching: which hosts are still heard of, and what was found on them. Pure; the
//! performer tells it what it hears and when.

use crate::coordinator::Now;
use crate::wire::FromAgent;
use model::occurrence::Heat;
use model::testbed::HostFacts;
use model::{CounterSample, Kernels, Occurrence, OccurrenceKind};

/// What somebody who watches a fleet gets to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watched {
    /// What a host's kernel counted in an interval; its `host` is the number in the fleet's order.
    Counters(Box<CounterSample>),
    /// A host that was gone, or not there yet, tells again from here on.
    Returned {
        /// Its number.
        host: u32,
        /// What it is.
        facts: Box<HostFacts>,
    },
    /// A host is gone; nothing comes from it until it returns.
    Lost {
        /// Its number.
        host: u32,
        /// What is known of the reason, in words.
        why: String,
    },
    /// A host's kernel logged a fault of a device, or its processors began to slow down because of
    /// heat. Told once where several agents are on one kernel. Its instant is in ns since the watch
    /// began.
    Found(Box<Occurrence>),
}

/// Who is there, and when each was heard of.
#[derive(Debug)]
pub(crate) struct Watch {
    /// When a host was last heard of, in ns; `None` for one that is lost.
    heard_ns: Vec<Option<u64>>,
    /// When the agent of each began to count, in ns since the watch began.
    from_ns: Vec<u64>,
    lost_after_ns: u64,
    began_ns: u64,
    kernels: Kernels,
    heat: Heat,
}

impl Watch {
    /// All hosts are there at `now_ns`. One is lost after so long a silence, in ns; 0 is never.
    pub(crate) fn new(hosts: usize, lost_after_ns: u64, now_ns: u64) -> Watch {
        Watch {
            heard_ns: vec![Some(now_ns); hosts],
            from_ns: vec![0; hosts],
            lost_after_ns,
            began_ns: now_ns,
            kernels: Kernels::default(),
            heat: Heat::new(hosts),
        }
    }

    /// The same, with what is known of which hosts are on one kernel.
    pub(crate) fn on(self, kernels: Kernels) -> Watch {
        Watch { kernels, ..self }
    }

    /// What there is to tell of a host's message that came at `at_ns` of the steady clock: nothing
    /// of one that was given up.
    pub(crate) fn told(
        &mut self,
        host: usize,
        message: FromAgent,
        at_ns: u64,
        now: Now,
    ) -> Vec<Watched> {
        if !self.heard(host, now.steady_ns) {
            return Vec::new();
        }
        let is_there = |other: usize| self.heard_ns.get(other).is_some_and(Option::is_some);
        let finds = self.kernels.voice(host, is_there).is_any();
        let number = host as u32;
        let found = match &message {
            FromAgent::Counters(sample) if finds => {
                let throttled = self.heat.began(number, sample);
                // It began in the interval, which has just ended.
                throttled.map(|throttled| (throttled, at_ns.saturating_sub(sample.length_ns)))
            }
            FromAgent::Logged { ago_ns, line, .. } if finds => {
                let line = Occurrence {
                    host: Some(number),
                    ..Occurrence::new(OccurrenceKind::KernelLog, line)
                };
                Some((line, at_ns.saturating_sub(*ago_ns)))
            }
            _ => None,
        };
        let found =
            found.map(|(found, found_ns)| Watched::Found(Box::new(self.at(found, found_ns, now))));
        let counted = match message {
            FromAgent::Counters(sample) => {
                let from_ns = self.from_ns.get(host).copied().unwrap_or_default();
                let start_ns = sample.start_ns.saturating_add(from_ns);
                let sample = CounterSample { host: number, start_ns, ..*sample };
                Some(Watched::Counters(Box::new(sample)))
            }
            _ => None,
        };
        counted.into_iter().chain(found).collect()
    }

    /// It cannot be of the future, nor of before the watch.
    fn at(&self, found: Occurrence, found_ns: u64, now: Now) -> Occurrence {
        let found_ns = found_ns.clamp(self.began_ns.min(now.steady_ns), now.steady_ns);
        let unix_ns = now.unix_ns.saturating_sub(now.steady_ns - found_ns);
        Occurrence { at_ns: found_ns.saturating_sub(self.began_ns), unix_ns, ..found }
    }

    /// A host gave a sign of life. False for one that was given up, or never was.
    pub(crate) fn heard(&mut self, host: usize, now_ns: u64) -> bool {
        let slot = self.heard_ns.get_mut(host).and_then(Option::as_mut);
        slot.map(|heard| *heard = now_ns.max(*heard)).is_some()
    }

    /// A host that was gone is there again.
    pub(crate) fn regain(&mut self, host: usize, now_ns: u64) {
        let slots = self.heard_ns.get_mut(host).zip(self.from_ns.get_mut(host));
        if let Some((heard_ns, from_ns)) = slots {
            // Its new agent counts from nothing, and its time begins anew.
            (*heard_ns, *from_ns) = (Some(now_ns), now_ns.saturating_sub(self.began_ns));
        }
    }

    /// A host is gone. False where that is no news.
    pub(crate) fn lose(&mut self, host: usize) -> bool {
        self.heard_ns.get_mut(host).and_then(Option::take).is_some()
    }

    /// The hosts that have been silent for too long; they are lost from now on.
    pub(crate) fn silent(&mut self, now_ns: u64) -> Vec<usize> {
        let limit = self.lost_after_ns;
        let late = |heard: &Option<u64>| {
            heard.is_some_and(|heard| limit > 0 && now_ns.saturating_sub(heard) > limit)
        };
        let hosts: Vec<usize> = self
            .heard_ns
            .iter()
            .enumerate()
            .filter(|(_, heard)| late(heard))
            .map(|(host, _)| host)
            .collect();
        hosts.iter().for_each(|host| self.heard_ns[*host] = None);
        hosts
    }

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
        watch.regain(1, 200);
        assert!(!watch.is_over() && watch.heard(1, 250) && watch.silent(300).is_empty());
    }

    fn now(ms: u64) -> Now {
        Now { steady_ns: ms * 1_000_000, unix_ns: 1_000_000_000_000 + ms * 1_000_000 }
    }

    fn logged(ago_ms: u64) -> FromAgent {
        FromAgent::Logged {
            stage: 0,
            ago_ns: ago_ms * 1_000_000,
            line: "nvme0: I/O error".to_owned(),
        }
    }

    fn counted(throttles: u64) -> FromAgent {
        let values = vec![(model::counters::Metric::CoreThrottles, throttles)];
        let entry = model::counters::Entry {
            layer: model::counters::Layer::Clock,
            name: "0".into(),
            values,
        };
        FromAgent::Counters(Box::new(CounterSample {
            length_ns: 100_000_000,
            entries: vec![entry],
            ..CounterSample::default()
        }))
    }

    /// Kind, host, instant in ms.
    fn found(told: &[Watched]) -> Vec<(OccurrenceKind, u32, u64)> {
        let one = |told: &Watched| match told {
            Watched::Found(one) => {
                Some((one.kind, one.host.expect("a host"), one.at_ns / 1_000_000))
            }
            _ => None,
        };
        told.iter().filter_map(one).collect()
    }

    #[test]
    fn what_kernels_log_and_heat_are_found_at_their_instant() {
        let mut watch = Watch::new(2, 0, 1_000_000_000);
        let told = watch.told(1, logged(50), 1_300_000_000, now(1_310));
        assert_eq!(found(&told), [(OccurrenceKind::KernelLog, 1, 250)]);
        let Watched::Found(line) = &told[0] else { panic!("{told:?}") };
        assert_eq!((line.label.as_str(), line.unix_ns), ("nvme0: I/O error", 1_001_250_000_000));
        let before = found(&watch.told(1, logged(9_000), 1_300_000_000, now(1_310)));
        assert_eq!(before, [(OccurrenceKind::KernelLog, 1, 0)], "not before the watch");
        let mut heat = |count, ms: u64| {
            let told = watch.told(0, counted(count), ms * 1_000_000, now(ms));
            assert!(matches!(told[0], Watched::Counters(_)), "{told:?}");
            found(&told)
        };
        assert_eq!(heat(3, 1_400), [(OccurrenceKind::Throttled, 0, 300)]);
        assert_eq!(
            (heat(3, 1_500), heat(0, 1_600)),
            (vec![], vec![]),
            "a row of hot intervals is one finding"
        );
        assert_eq!(heat(1, 1_700), [(OccurrenceKind::Throttled, 0, 600)]);
    }

    #[test]
    fn what_a_host_counts_that_returned_stands_behind_what_it_counted_before() {
        let mut watch = Watch::new(1, 0, 1_000_000_000);
        let start_ns = |watch: &mut Watch, ms: u64| {
            let told = watch.told(0, counted(0), ms * 1_000_000, now(ms));
            let Some(Watched::Counters(sample)) = told.first() else { panic!("{told:?}") };
            sample.start_ns
        };
        assert_eq!(start_ns(&mut watch, 1_100), 0);
        watch.lose(0);
        watch.regain(0, 9_000_000_000);
        assert_eq!(start_ns(&mut watch, 9_100), 8_000_000_000);
    }

    #[test]
    fn agents_on_one_kernel_find_a_thing_once_and_who_was_given_up_finds_nothing() {
        let kernels = Kernels::of(&[on("a"), on("b"), on("a")]);
        let mut watch = Watch::new(3, 0, 0).on(kernels);
        let hosts = |watch: &mut Watch| {
            let told: Vec<Watched> =
                (0..3).flat_map(|host| watch.told(host, logged(0), 5_000_000, now(5))).collect();
            found(&told).into_iter().map(|(_, host, _)| host).collect::<Vec<_>>()
        };
        assert_eq!(hosts(&mut watch), [0, 1]);
        assert!(watch.lose(0));
        assert_eq!(hosts(&mut watch), [1, 2]);
    }

    fn on(kernel: &str) -> HostFacts {
        HostFacts {
            identity: kernel.to_owned(),
            ..probe::Looker::new().host("1", Default::default(), Vec::new())
        }
    }

    #[test]
    fn without_a_limit_silence_is_no_loss_and_numbers_that_are_none_do_no_harm() {
        let mut watch = Watch::new(1, 0, 0);
        assert!(watch.silent(u64::MAX).is_empty());
        assert!(!watch.heard(7, 0) && !watch.lose(7));
    }
}
