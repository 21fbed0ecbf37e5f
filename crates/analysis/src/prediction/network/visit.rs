//! Where requests queue, and what each of them does there.

use super::Owner;
use crate::prediction::mva::{Later, Queue};
use catalogue::cluster::DESTAGE_SLACK_NS;

/// What happens less often, as rounding makes it, does not happen.
const LEAST_VISITS: f64 = 1e-12;

/// Time of one owner, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) owner: Owner,
    pub(super) seconds: f64,
}

/// What requests do at a station.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    /// How often a request comes to any of the queues, on average.
    pub(super) times: f64,
    /// The share of its waits that add to its time; less than 1 where some wait side by side.
    pub(super) waits: f64,
    /// The share of its services that add to its time.
    pub(super) serves: f64,
    /// The squared coefficient of variation of a service.
    pub(super) varies: f64,
    /// The share of it that is at the node of its own host; `None` where nodes are alike to it.
    pub(super) home: Option<f64>,
    /// The share of it that goes on a stream which meets the same queue again.
    pub(super) streams: f64,
    /// How many queues such a stream keeps to at the same time.
    pub(super) kept: f64,
    /// Whether it is done in a pause, and waits only where there is no room left.
    pub(super) is_later: bool,
    /// What work in pauses varies more by, because it comes together: products of two visits, for
    /// each request, in seconds².
    pub(super) gathered_s2: f64,
    /// The mean time of a service.
    pub(super) parts: Vec<Part>,
}

impl Visit {
    /// One that a request waits for, whose time is always the same.
    pub(super) fn new(times: f64, owner: Owner, seconds: f64) -> Visit {
        Visit {
            times,
            waits: 1.0,
            serves: 1.0,
            varies: 0.0,
            home: None,
            streams: 0.0,
            kept: 1.0,
            is_later: false,
            gathered_s2: 0.0,
            parts: vec![Part { owner, seconds }],
        }
    }

    /// The same with times that vary.
    pub(super) fn varying(self, varies: f64) -> Visit {
        Visit { varies, ..self }
    }

    /// The same of a stream, but for one of so many requests.
    pub(super) fn streaming(self, streams: f64, kept: f64) -> Visit {
        Visit { streams, kept, ..self }
    }

    /// The same at the node of its own host with this share.
    pub(super) fn at_home(self, home: Option<f64>) -> Visit {
        Visit { home, ..self }
    }

    /// One of so many at the same time, of which the last one counts. The longest of `count` waits
    /// with exponential tails is as long as 1 + ½ + … of them (Nelson and Tantawi, "Approximate
    /// analysis of fork/join synchronization in parallel queues", IEEE Transactions on Computers
    /// 37, 1988), and the longest service that of as many normal ones.
    pub(super) fn side_by_side(self, count: f64) -> Visit {
        let count = count.max(1.0);
        let longest = 1.0 + self.varies.sqrt() * 0.564 * count.log2().powf(0.8);
        Visit { waits: harmonic(count) / count, serves: (longest / count).min(1.0), ..self }
    }

    /// The same that comes together with others, whose products are so many seconds² per request.
    pub(super) fn gathered(self, gathered_s2: f64) -> Visit {
        Visit { gathered_s2, ..self }
    }

    /// What nobody waits for while there is room.
    pub(super) fn later(self) -> Visit {
        Visit { is_later: true, ..self }
    }

    /// The share of it that is at some of its queues.
    fn part(&self, share: f64) -> Visit {
        Visit {
            times: share * self.times,
            kept: share * self.kept,
            gathered_s2: share * self.gathered_s2,
            ..self.clone()
        }
    }

    pub(super) fn seconds(&self) -> f64 {
        self.parts.iter().map(|part| part.seconds).sum()
    }
}

/// 1 + ½ + … + 1 ÷ `count`, between whole numbers as a line.
fn harmonic(count: f64) -> f64 {
    let whole = count.floor();
    let sum: f64 = (1..=whole as u32).map(|number| 1.0 / f64::from(number)).sum();
    sum + (count - whole) / (whole + 1.0)
}

/// Queues that are alike.
#[derive(Clone, Debug)]
pub(super) struct Station {
    pub(super) count: f64,
    /// Requests that each of the queues serves at once; at least 1.
    pub(super) servers: f64,
    /// Nodes that they are spread over, with a host each or more; 1 where it does not matter whose
    /// requests come.
    pub(super) nodes: f64,
    /// The share of a request's time that it is served there, were it alone.
    pub(super) share: f64,
    /// Whether requests of a worker that follow one another meet the same queue.
    pub(super) is_by_place: bool,
    pub(super) visits: Vec<Visit>,
}

impl Station {
    /// Queues that each serve one request after the other.
    pub(super) fn of(count: f64, visits: Vec<Visit>) -> Station {
        Station { count, servers: 1.0, nodes: 1.0, share: 1.0, is_by_place: false, visits }
    }

    /// The same on so many nodes.
    pub(super) fn on(self, nodes: f64) -> Station {
        Station { nodes, ..self }
    }

    /// The same, of which a place in the data meets one.
    pub(super) fn by_place(self) -> Station {
        Station { is_by_place: true, ..self }
    }

    /// The queues of nodes that run hosts of the load, `hosted` of all, and those of the others:
    /// hosts' own nodes are asked for more.
    pub(super) fn split(self, hosted: f64) -> Vec<Station> {
        if hosted >= self.nodes {
            return vec![self];
        }
        let (all, others) = (self.nodes, self.nodes - hosted);
        let there = |visit: &Visit| {
            let home = visit.home.unwrap_or(1.0 / all);
            home + (1.0 - home) * (hosted - 1.0) / (all - 1.0)
        };
        let own = |visit: &Visit| Visit {
            home: visit.home.map(|home| home / there(visit).max(1e-300)),
            ..visit.part(there(visit))
        };
        let other = |visit: &Visit| Visit { home: None, ..visit.part(1.0 - there(visit)) };
        let of = |nodes: f64, is_own: bool| Station {
            count: self.count * if is_own { hosted } else { others } / all,
            nodes,
            visits: self
                .visits
                .iter()
                .map(|visit| if is_own { own(visit) } else { other(visit) })
                .collect(),
            ..self
        };
        vec![of(hosted, true), of(1.0, false)]
    }

    /// Σp², with p the share of a host's work that is at each node.
    fn together(&self) -> f64 {
        if self.nodes <= 1.0 {
            return 1.0;
        }
        let (mut all_s, mut home_s) = (0.0, 0.0);
        for visit in self.visits.iter().filter(|visit| !visit.is_later) {
            let seconds = visit.times * visit.seconds();
            all_s += seconds;
            home_s += seconds * visit.home.unwrap_or(1.0 / self.nodes);
        }
        let home = if all_s > 0.0 { home_s / all_s } else { 1.0 / self.nodes };
        home * home + (1.0 - home) * (1.0 - home) / (self.nodes - 1.0)
    }

    /// Its queues, where each of so many requests finds so many others of its worker with it.
    pub(super) fn queue(&self, outstanding: f64, companions: f64) -> Queue {
        let later = Later { room_s: DESTAGE_SLACK_NS as f64 / 1e9, ..Later::default() };
        let servers = self.servers.max(1.0);
        let mut queue = Queue {
            count: self.count,
            servers,
            nodes: self.nodes,
            together: self.together(),
            crowding: 0.0,
            abreast: 1.0,
            later,
            demand_s: 0.0,
            rest_s2: 0.0,
            visits: 0.0,
            waits: 0.0,
            serves_s: 0.0,
        };
        let (mut times_later, mut serves_later, mut streams_s) = (0.0, 0.0, 0.0);
        for visit in &self.visits {
            let seconds = visit.seconds();
            let shared_s = seconds / servers;
            if visit.times < LEAST_VISITS || seconds <= 0.0 {
                continue;
            }
            let each = visit.times / self.count;
            let varies = if visit.is_later {
                visit.varies
            } else {
                visit.varies.max(visit.streams * self.share)
            };
            let rest_s2 = each * shared_s * shared_s * (1.0 + varies) / 2.0;
            if visit.is_later {
                queue.later.demand_s += each * shared_s;
                queue.later.streams += each * shared_s * visit.streams;
                if visit.streams > 0.0 {
                    queue.later.kept = visit.kept;
                }
                queue.later.rest_s2 += rest_s2 + visit.gathered_s2 / self.count;
                queue.later.waits += visit.times * visit.waits;
                times_later += visit.times;
                serves_later += visit.times * visit.serves;
            } else {
                queue.demand_s += each * shared_s;
                streams_s += each * shared_s * visit.streams;
                queue.rest_s2 += rest_s2;
                queue.visits += visit.times;
                queue.waits += visit.times * visit.waits;
                queue.serves_s += visit.times * visit.serves * seconds;
            }
        }
        if self.is_by_place {
            let share = (companions / (outstanding - 1.0).max(1e-300)).min(1.0);
            // Copies are at several of the queues at once.
            let at_once = (queue.demand_s * self.count / queue.serves_s.max(1e-300)).max(1.0);
            let queues = self.count / (self.nodes * queue.together * at_once);
            queue.crowding = share * (queues - 1.0).max(0.0);
            queue.abreast = 1.0 + share * (outstanding - 1.0);
        }
        // Streams that keep to a queue share it, whatever their times: as if all were exponential.
        let even_s2 = queue.demand_s * queue.demand_s * self.count / queue.visits.max(1e-300);
        let streaming = self.share * streams_s / queue.demand_s.max(1e-300);
        queue.rest_s2 -= streaming * (queue.rest_s2 - even_s2).max(0.0);
        let work_s = queue.later.demand_s * self.count;
        queue.later.streams /= queue.later.demand_s.max(1e-300);
        queue.later.each_s = if times_later > 0.0 { work_s / times_later } else { 0.0 };
        // What is longer than the room is waited for: of pieces side by side, all at once.
        queue.serves_s += serves_later * queue.later.longer_s();
        queue
    }

    /// The share of a visit's service that adds to a request's time, where its queues are `queue`.
    pub(super) fn serves(&self, visit: &Visit, queue: &Queue) -> f64 {
        let is_waited = if visit.is_later {
            queue.later.longer_s() / queue.later.each_s.max(1e-300)
        } else {
            1.0
        };
        visit.serves * is_waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ceiling::Layer;

    #[test]
    fn of_pieces_side_by_side_that_are_longer_than_the_room_the_rest_is_waited_for_once() {
        let room_s = DESTAGE_SLACK_NS as f64 / 1e9;
        let piece = |seconds: f64| {
            let visit = Visit::new(3.0, Owner::Layer(Layer::Drives), seconds).side_by_side(3.0);
            Station::of(6.0, vec![visit.later()])
        };
        let station = piece(room_s + 0.004);
        let queue = station.queue(1.0, 0.0);
        assert!((queue.serves_s - 0.004).abs() < 1e-12, "{}", queue.serves_s);
        let each = station.serves(&station.visits[0], &queue) * 3.0 * (room_s + 0.004);
        assert!((each - 0.004).abs() < 1e-12, "{each}");
        assert!(
            piece(0.9 * room_s).queue(1.0, 0.0).serves_s.abs() < 1e-12,
            "nobody waits for a pause"
        );
    }

    #[test]
    fn nodes_with_hosts_are_asked_for_more_than_others() {
        let visit = |home| Visit::new(1.0, Owner::Layer(Layer::Drives), 0.001).at_home(home);
        let station = |nodes: f64, home| Station::of(5.0 * nodes, vec![visit(home)]).on(nodes);
        // One host, and two of three copies: its own node answers two of three.
        let one = station(3.0, Some(2.0 / 3.0)).split(1.0);
        let shape = |station: &Station| (station.count, station.nodes, station.visits[0].times);
        let near = |station: &Station, (count, nodes, times): (f64, f64, f64)| {
            let found = shape(station);
            let apart = (found.0 - count).abs() + (found.1 - nodes).abs() + (found.2 - times).abs();
            assert!(apart < 1e-12, "{found:?}");
        };
        near(&one[0], (5.0, 1.0, 2.0 / 3.0));
        near(&one[1], (10.0, 1.0, 1.0 / 3.0));
        // Two hosts on four nodes: half of it is at home, and a third of the rest at the other.
        let two = station(4.0, Some(0.5)).split(2.0);
        near(&two[0], (10.0, 2.0, 2.0 / 3.0));
        near(&two[1], (10.0, 1.0, 1.0 / 3.0));
        assert_eq!(two[0].visits[0].home, Some(0.75));
        // What comes by everywhere stays even, and so does all where each node has a host.
        near(&station(4.0, None).split(2.0)[1], (10.0, 1.0, 0.5));
        assert_eq!(station(4.0, Some(0.5)).split(4.0).len(), 1);
    }

    #[test]
    fn side_by_side_the_last_one_counts() {
        let one = Visit::new(3.0, Owner::Layer(Layer::Drives), 0.002).side_by_side(3.0);
        assert!((one.waits - (1.0 + 0.5 + 1.0 / 3.0) / 3.0).abs() < 1e-12);
        assert!((one.serves - 1.0 / 3.0).abs() < 1e-12, "three of one length end at once");
        let queue = Station::of(6.0, vec![one]).queue(1.0, 0.0);
        assert!((queue.serves_s - 0.002).abs() < 1e-12 && (queue.demand_s - 0.001).abs() < 1e-12);
    }
}
