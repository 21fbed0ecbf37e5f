//! Stalls as a second time scale: the device's own time stops while it stands still.

use crate::spec::Stall;

/// Translates between virtual time and the device's working time, in which no stall exists. So
/// every part of the device stops together, and work in progress goes on where it stopped.
#[derive(Clone, Debug, Default)]
pub(crate) struct StallMap {
    /// Rising, apart from each other.
    spans: Vec<Span>,
}

#[derive(Clone, Debug)]
struct Span {
    /// In virtual time.
    at_ns: u64,
    /// In working time, where the stall is an instant.
    working_ns: u64,
    length_ns: u64,
    /// How much the stalls before this one took together.
    before_ns: u64,
}

impl StallMap {
    /// The stalls in any order; where they overlap, they are one.
    pub(crate) fn new(stalls: &[Stall]) -> StallMap {
        let mut sorted = stalls.to_vec();
        sorted.sort_by_key(|stall| stall.at_ns);
        let mut spans: Vec<Span> = Vec::with_capacity(sorted.len());
        for stall in sorted.iter().filter(|stall| stall.length_ns > 0) {
            let end_ns = stall.at_ns.saturating_add(stall.length_ns);
            match spans.last_mut() {
                Some(last) if last.at_ns.saturating_add(last.length_ns) >= stall.at_ns => {
                    last.length_ns = last.length_ns.max(end_ns - last.at_ns);
                }
                last => {
                    let before_ns = last.map_or(0, |span| span.before_ns + span.length_ns);
                    let working_ns = stall.at_ns - before_ns;
                    let length_ns = end_ns - stall.at_ns;
                    spans.push(Span { at_ns: stall.at_ns, working_ns, length_ns, before_ns });
                }
            }
        }
        StallMap { spans }
    }

    /// The working time at an instant of virtual time, in ns. Throughout a stall it is that of its
    /// beginning.
    #[inline]
    pub(crate) fn working_ns(&self, virtual_ns: u64) -> u64 {
        let past = self.spans.partition_point(|span| span.at_ns <= virtual_ns);
        match past.checked_sub(1).map(|index| &self.spans[index]) {
            None => virtual_ns,
            Some(span) => {
                let since_ns = virtual_ns - span.at_ns;
                span.working_ns + since_ns.saturating_sub(span.length_ns)
            }
        }
    }

    /// The first instant of virtual time, in ns, at which this much working time has passed. What
    /// would be done just as a stall begins is done before it.
    #[inline]
    pub(crate) fn virtual_ns(&self, working_ns: u64) -> u64 {
        let past = self.spans.partition_point(|span| span.working_ns < working_ns);
        match past.checked_sub(1).map(|index| &self.spans[index]) {
            None => working_ns,
            Some(span) => working_ns.saturating_add(span.before_ns + span.length_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(stalls: &[(u64, u64)]) -> StallMap {
        let stalls: Vec<Stall> =
            stalls.iter().map(|&(at_ns, length_ns)| Stall { at_ns, length_ns }).collect();
        StallMap::new(&stalls)
    }

    #[test]
    fn time_stands_still_in_a_stall_and_goes_on_behind_it() {
        let map = map(&[(100, 50), (300, 10)]);
        for (virtual_ns, working_ns) in
            [(0, 0), (100, 100), (149, 100), (151, 101), (300, 250), (310, 250), (311, 251)]
        {
            assert_eq!(map.working_ns(virtual_ns), working_ns, "at {virtual_ns}");
        }
        for (working_ns, virtual_ns) in [(99, 99), (100, 100), (101, 151), (250, 300), (251, 311)] {
            assert_eq!(map.virtual_ns(working_ns), virtual_ns, "after {working_ns}");
        }
    }

    #[test]
    fn overlapping_stalls_are_one_in_whatever_order_they_come() {
        let map = map(&[(120, 50), (100, 50), (110, 5), (170, 5), (400, 0)]);
        assert_eq!(map.spans.len(), 1);
        assert_eq!(map.working_ns(175), 100);
        assert_eq!(map.virtual_ns(101), 176);
    }

    #[test]
    fn a_stall_without_end_ends_time() {
        let map = map(&[(100, u64::MAX), (500, 7)]);
        assert_eq!(map.working_ns(u64::MAX), 100);
        assert_eq!(map.virtual_ns(101), u64::MAX);
    }
}
