//! Mean-value analysis of a closed network of queues with one class of requests.
//!
//! Schweitzer and Bard's approximation: a request that arrives finds (N − 1) ÷ N of the mean queue
//! (Schweitzer, "Approximate analysis of multiclass closed networks of queues", 1979; Bard, "Some
//! extensions to multiclass queueing network analysis", 1979; Lazowska et al., "Quantitative System
//! Performance", 1984, 7.4). It waits for the rest of the request in service, E\[S²\] ÷ 2·E\[S\],
//! and for those that wait (Reiser, "A queueing network analysis of computer communication networks
//! with window flow control", IEEE Transactions on Communications 27, 1979). With a throughput X, a
//! queue of demand D then makes a request wait W = a·X·κ ÷ (1 − a·X·D), with κ = X⁻¹ times the work
//! that is left in service. Requests hold X·Σ(time + waits), and X is where all of them are N. The
//! left side grows with X and is convex, so there is one solution and Newton's steps from its right
//! reach it; no fixed point is iterated.
//!
//! a = (N − 1) ÷ (N − 1 + r), with r the rest in service ÷ the mean time: where times are
//! exponential this is Schweitzer's (N − 1) ÷ N; and one queue alone works without a pause,
//! whatever its times are.
//!
//! Several servers behind one queue, c of them: W·ρ^(√(2·(c + 1)) − 2) with times ÷ c, where ρ is
//! the share of them that is busy (Sakasegawa, "An approximation formula L_q ≃ α·ρ^β ÷ (1 − ρ)",
//! Annals of the Institute of Statistical Mathematics 29, 1977). With one server the factor is 1.

/// How many steps of exact analysis follow the approximation.
const EXACT_STEPS: f64 = 24.0;
/// How fast nodes are kept busy by their own hosts, per further request of a host.
const KEPT_BUSY: f64 = 0.9;

/// Queues that are alike, as mean-value analysis sees them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// How many there are; at least 1.
    pub count: f64,
    /// How many requests each of them serves at once; at least 1. Their times are ÷ by it.
    pub servers: f64,
    /// What each request takes of each of them on average, in seconds ÷ servers; not below 0.
    pub demand_s: f64,
    /// Half of the sum of its squared times at each of them, in (seconds ÷ servers)²: per request
    /// and second, the work that is left of what is in service.
    pub rest_s2: f64,
    /// Its visits to all of them, each a time.
    pub visits: f64,
    /// How many of their waits add to its time; less than the visits where some wait side by side.
    pub waits: f64,
    /// The times of service that add to its time, in seconds.
    pub serves_s: f64,
    /// Nodes that run hosts of the load, all alike; 1 where it does not matter whose a request is.
    pub nodes: f64,
    /// Σp², where p is the share of a host's work at the queues of each node: 1 ÷ nodes where hosts
    /// meet everywhere alike, 1 where each keeps to its own node.
    pub together: f64,
    /// By which share an arriving request finds more than it would anywhere else, because others of
    /// its worker are with it.
    pub crowding: f64,
    /// Requests that keep together to a queue; at least 1.
    pub abreast: f64,
    /// What is done in pauses, up to a room.
    pub later: Later,
}

/// Work that queues do in pauses, until there is too much of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Later {
    /// What each request leaves at each queue, in seconds.
    pub demand_s: f64,
    /// Half of the sum of its squared times there, in seconds².
    pub rest_s2: f64,
    /// How many waits for room add to a request's time.
    pub waits: f64,
    /// How much may lie there, in seconds.
    pub room_s: f64,
    /// The mean of one piece of that work, in seconds.
    pub each_s: f64,
    /// The share of it that streams leave which keep to a queue for long.
    pub streams: f64,
    /// How many queues one stream keeps to at the same time.
    pub kept: f64,
}

impl Later {
    /// How much longer one piece is than the room, in seconds: its request waits for that.
    pub fn longer_s(&self) -> f64 {
        (self.each_s - self.room_s).max(0.0)
    }
}

impl Queue {
    /// Queues with exponential times that each request passes one after the other.
    pub fn exponential(count: f64, demand_s: f64) -> Queue {
        Queue {
            count,
            servers: 1.0,
            demand_s,
            rest_s2: demand_s * demand_s,
            visits: count,
            waits: count,
            serves_s: count * demand_s,
            nodes: 1.0,
            together: 1.0,
            crowding: 0.0,
            abreast: 1.0,
            later: Later::default(),
        }
    }

    /// How many times more of an arriving request's own host than of all hosts is missing there.
    ///
    /// An arrival finds all of the other hosts' requests, and by Schweitzer (n − 1) ÷ n of the n of
    /// its own. Over all nodes it then misses Σp² ÷ n of what is there, and 1 ÷ N where hosts meet
    /// alike. Exact analysis has fewer idle nodes than that, the fewer the more each host has: what
    /// is taken from a node is taken from its own host, as long as that one keeps it busy. 1 − Σp²
    /// falls by [`KEPT_BUSY`] (a fit to exact networks of 2 to 4 nodes).
    fn clump(&self, outstanding: f64) -> f64 {
        if self.nodes <= 1.0 || self.nodes * self.together <= 1.0 + 1e-12 {
            return 1.0;
        }
        let apart = (1.0 - self.together).max(0.0);
        let gathered = ((self.nodes * self.together - 1.0) / (self.nodes - 1.0)).clamp(0.0, 1.0);
        let each = outstanding / self.nodes;
        self.nodes * (1.0 - apart * (-KEPT_BUSY * gathered * (each - 1.0).max(0.0)).exp())
    }

    /// What an arriving request finds of what it would find from outside, with so many outstanding.
    fn seen(&self, outstanding: f64) -> f64 {
        let all_s = self.count * self.demand_s;
        if all_s <= 0.0 {
            return 0.0;
        }
        let rest = self.rest_s2 * self.count * self.visits / (all_s * all_s);
        // Who waits side by side is there several times.
        let others = outstanding / self.clump(outstanding)
            * (all_s / self.serves_s.max(1e-300)).max(1.0)
            - 1.0;
        (others / (others + rest)).clamp(0.0, 1.0) * (1.0 + self.crowding)
    }

    /// The same where work in pauses counts. A request's own work is over before it comes again,
    /// but what it left for a pause may not be.
    fn seen_later(&self, outstanding: f64) -> f64 {
        1.0 - self.demand_s / self.all_s().max(1e-300) / outstanding.max(1.0)
    }

    /// All work of a request at each queue, in seconds.
    pub fn all_s(&self) -> f64 {
        self.demand_s + self.later.demand_s
    }

    /// How long requests wait at all of the queues, in seconds, at a throughput.
    pub fn waits_s(&self, outstanding: f64, rate: f64) -> f64 {
        self.waiting(outstanding, rate).waits_s
    }

    fn waiting(&self, outstanding: f64, rate: f64) -> Waiting {
        let seen = self.seen(outstanding);
        let left = 1.0 - seen * rate * self.demand_s;
        let mut wait_s = seen * self.rest_s2 * rate / left;
        let mut slope = seen * self.rest_s2 / (left * left);
        if self.servers > 1.0 {
            // Whoever finds a free server does not wait.
            let power = (2.0 * (self.servers + 1.0)).sqrt() - 2.0;
            let is_full = (seen * rate * self.demand_s).max(0.0).powf(power);
            slope = (slope + power * wait_s / rate.max(1e-300)) * is_full;
            wait_s *= is_full;
        }
        let mut waiting = Waiting { waits_s: self.waits * wait_s, slope: self.waits * slope };
        if self.later.demand_s > 0.0 {
            // The work beyond the room, by the tail of a queue in heavy traffic (Kingman, "On
            // queues in heavy traffic", Journal of the Royal Statistical Society B 24, 1962).
            // Everybody waits for it.
            let (all_s, rest_s2) = (self.all_s(), self.rest_s2 + self.later.rest_s2);
            let (seen, each_s) = (self.seen_later(outstanding), rest_s2 / all_s);
            let left = 1.0 - seen * rate * all_s;
            // What a request leaves there needs room, too.
            let room_s = (self.later.room_s - self.later.each_s).max(0.0);
            for (waits, room_s) in [(self.waits, self.later.room_s), (self.later.waits, room_s)] {
                let decay = room_s / each_s.max(1e-300);
                let tail = (-decay * (1.0 - rate * all_s)).min(50.0).exp();
                let beyond_s = (1.0 - self.later.streams) * waits * rate * rest_s2 / left * tail;
                waiting.waits_s += beyond_s;
                waiting.slope +=
                    beyond_s * (1.0 / rate.max(1e-300) + seen * all_s / left + decay * all_s);
            }
            // What is beyond the room is all work that lies there, with what waits to be served.
            // So a request that finds some of it has waited for its own kind already.
            let decay = self.later.room_s / each_s.max(1e-300);
            let tail = (-decay * (1.0 - rate * all_s)).min(0.0).exp();
            let twice = (1.0 - self.later.streams) * tail;
            waiting.waits_s -= self.waits * wait_s * twice;
            waiting.slope -= self.waits * twice * (slope + wait_s * decay * all_s);
            if self.later.streams > 0.0 {
                let overflow = self.overflow(outstanding, rate);
                waiting.waits_s += overflow.waits_s;
                waiting.slope += overflow.slope;
            }
        }
        waiting
    }

    /// Waits for work in pauses that streams leave, each of which keeps to its queues for long.
    ///
    /// A queue is filled by as many streams as their pace ÷ what it does; fewer never wait. With
    /// that many servers, of which each is a stream's place, it is a queue of several servers, by
    /// Sakasegawa as above. One stream more after the other has the share ρ of the one before, and
    /// the room takes what they leave: of each, half is still to come on average.
    fn overflow(&self, outstanding: f64, rate: f64) -> Waiting {
        let later = &self.later;
        let (all_s, seen) = (self.all_s(), self.seen_later(outstanding));
        let (busy, left) = ((seen * rate * all_s).max(1e-300), 1.0 - seen * rate * all_s);
        let fill = (outstanding / self.abreast * later.kept / self.count / busy).max(1.0);
        let stream_s = later.each_s / (1.0 - later.streams).max(1e-9);
        let room = 2.0 * later.room_s / stream_s.max(1e-300);
        let power = (2.0 * (fill + 1.0)).sqrt() - 1.0 + room;
        let waits = later.streams * (self.waits + later.waits);
        let waits_s = waits * later.each_s * busy.powf(power) / left;
        let slope = waits_s * (power / rate.max(1e-300) + seen * all_s / left);
        Waiting { waits_s, slope }
    }

    /// How long one more request waits at a queue where `others` requests have this rate and this
    /// wait: what waits, and the rest of what is in service. Where all others are at one queue, one
    /// of them begins as the other leaves, and its rest is all of its time.
    fn found_s(&self, others: f64, rate: f64, wait_s: f64) -> f64 {
        let all_s = self.count * self.demand_s;
        if all_s <= 0.0 {
            return 0.0;
        }
        let rest = self.rest_s2 * self.count * self.visits / (all_s * all_s);
        let here = rate * (self.demand_s + wait_s * self.visits / self.count);
        let jobs = others * (all_s / self.serves_s.max(1e-300)).max(1.0);
        let share = (here / jobs.max(1e-300)).min(1.0);
        let fresh = 1.0 / (rest * share + 1.0 - share);
        // Of its own host one is fewer there than without it.
        let but_itself = ((others + 1.0 - self.clump(others + 1.0)) / others.max(1e-300))
            .clamp(0.0, 1.0)
            * (1.0 + self.crowding);
        but_itself * rate * (self.demand_s * wait_s + self.rest_s2 * fresh)
    }

    /// The rate that it cannot reach, per second.
    fn pole(&self, outstanding: f64) -> f64 {
        let alone = self.seen(outstanding) * self.demand_s;
        let all = if self.later.demand_s > 0.0 {
            self.seen_later(outstanding) * self.all_s()
        } else {
            0.0
        };
        1.0 / alone.max(all).max(1e-300)
    }

    /// Requests that are there at a throughput, waiting or in service.
    #[cfg(test)]
    pub fn held(&self, outstanding: f64, rate: f64) -> f64 {
        rate * (self.serves_s + self.waits_s(outstanding, rate))
    }
}

struct Waiting {
    waits_s: f64,
    /// Its derivative by the rate.
    slope: f64,
}

/// Requests per second of a network with `outstanding` (at least 1) requests in it, `delay_s`
/// seconds of delays and these queues; 0 where nothing takes any time.
///
/// Schweitzer's approximation for [`EXACT_STEPS`] requests fewer, and from there the steps of exact
/// analysis: what is wrong at their beginning fades. Work in pauses and several servers are no
/// matter of such steps.
pub fn throughput(outstanding: f64, delay_s: f64, queues: &[Queue]) -> f64 {
    let steps = (outstanding - 1.0).clamp(0.0, EXACT_STEPS).floor();
    let is_only_near = |queue: &Queue| queue.later.demand_s > 0.0 || queue.servers > 1.0;
    if steps < 1.0 || queues.iter().any(is_only_near) {
        return approximate(outstanding, delay_s, queues);
    }
    let fewer = outstanding - steps;
    let mut rate = approximate(fewer, delay_s, queues);
    if rate <= 0.0 {
        return rate;
    }
    let mut waits_s: Vec<f64> =
        queues.iter().map(|queue| queue.waits_s(fewer, rate) / queue.waits.max(1e-300)).collect();
    for step in 1..=steps as u32 {
        let number = fewer + f64::from(step);
        let mut total_s = delay_s;
        for (queue, wait_s) in queues.iter().zip(&mut waits_s) {
            *wait_s = queue.found_s(number - 1.0, rate, *wait_s);
            total_s += queue.serves_s + queue.waits * *wait_s;
        }
        rate = number / total_s;
    }
    rate
}

fn approximate(outstanding: f64, delay_s: f64, queues: &[Queue]) -> f64 {
    let total_s: f64 = delay_s + queues.iter().map(|queue| queue.serves_s).sum::<f64>();
    let pole = queues.iter().map(|queue| queue.pole(outstanding)).fold(f64::INFINITY, f64::min);
    // Nobody waits; one server is always busy.
    let mut high = (outstanding / total_s).min(pole);
    if !high.is_finite() || high <= 0.0 || outstanding < 1.0 || high >= 1e290 {
        return 0.0;
    }
    let mut low = 0.0;
    let mut rate = 0.999 * high;
    for _ in 0..200 {
        let (mut held, mut slope) = (rate * delay_s, delay_s);
        for queue in queues {
            let waiting = queue.waiting(outstanding, rate);
            held += rate * (queue.serves_s + waiting.waits_s);
            slope += queue.serves_s + waiting.waits_s + rate * waiting.slope;
        }
        let over = held - outstanding;
        if over.abs() <= 1e-12 * outstanding {
            break;
        }
        if over > 0.0 {
            high = rate;
        } else {
            low = rate;
        }
        // Far from the solution Newton's steps are too short.
        let next = if over > outstanding { f64::NAN } else { rate - over / slope };
        rate = if next > low && next < high { next } else { 0.5 * (low + high) };
        if high - low <= 1e-14 * high {
            break;
        }
    }
    rate
}

#[cfg(test)]
mod tests;
