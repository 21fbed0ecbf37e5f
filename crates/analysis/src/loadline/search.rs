//! The search itself: measured points in, the next rate or the end out. It has no state of its own,
//! so that a run file can be asked again.
//!
//! `docs/method/load-line.md`, "The load line", says why each step is as it is.

/// The most points of a search.
pub const MOST_POINTS: usize = 12;
/// The first open-loop point, as a share of what the closed loop carried.
const FIRST: f64 = 0.6;
/// Below the first point, where the objective does not hold there, as shares of it.
const DOWN: [f64; 4] = [0.5, 0.15, 0.03, 0.003];
/// Above a closed loop that was not the limit.
const UP: f64 = 1.8;
/// Bounds as near as this are a boundary: what is left is the noise.
const NEAR: f64 = 1.06;
/// A figure further than this from its limit, as a factor, says nothing about where it reaches it.
const LEAP: f64 = 1.6;
/// A figure whose room falls by less than this factor from one rate to the next does not rise.
const FLAT: f64 = 1.02;
/// Bounds as near as this are an answer, even where there is no figure to draw a line through.
const TIGHT: f64 = 1.015;
/// The candidate lies so far below the boundary: on it, the objective holds in every second run
/// only.
const MARGIN: f64 = 0.006;
/// 1 ÷ excess is not told beyond this: so far from its limit, a figure says nothing about where it
/// reaches it.
const MOST_ROOM: f64 = 4.0;
/// Rates within this are the same question.
const SAME: f64 = 0.005;
/// The figure's relative error where nothing is known of it.
const UNKNOWN_ERROR: f64 = 0.05;
/// Significant digits of a rate: it differs from the one that was looked for by 0.05 % at most, a
/// tenth of [`SAME`].
const DIGITS: f64 = 4.0;
/// No target carries more, in requests per second: beyond it, figures are damaged.
const MOST_RATE: f64 = 1e12;
/// Points for the curve, as shares of the answer.
const CURVE: [f64; 2] = [0.3, 0.85];

/// A closed loop in which the objective held with so much to spare (its excess) speaks for fixed
/// rates, too.
const SURE: f64 = 0.9;
/// It does so for evenly due requests up to this share of what it carried: nearer to it, its queue
/// was kept short by its depth.
const VOUCHED: f64 = 0.8;
/// With fewer requests outstanding, a closed loop says nothing of the queues at a fixed rate.
const DEEP: f64 = 16.0;
/// A rate that contradicts another is measured so often, and the middle one of its figures counts.
const RETESTS: usize = 3;

/// A point that was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tried {
    /// Requests per second that were due; `None` in a closed loop.
    pub rate: Option<f64>,
    /// Requests per second that came back.
    pub carried: f64,
    /// The worst figure of the objective ÷ its limit (or the limit ÷ the figure, where more is
    /// better): the objective holds up to 1. Above 1 where the target fell behind its rate.
    /// Infinite where a limit of 0 is broken.
    pub excess: f64,
    /// The standard error of `excess`, as a share of it; `None` where it is not known.
    pub error: Option<f64>,
    /// In a closed loop with evenly due requests at all other points: how many requests were
    /// outstanding on average. 0 where it is not known, or arrivals are those of strangers, whose
    /// queues no closed loop shows.
    pub outstanding: f64,
    /// Whether the rate is too low for the objective, which wants a rate or a bandwidth that the
    /// target was not asked for. It is in no excess.
    pub is_too_low: bool,
}

impl Tried {
    /// The rate up to which a closed loop says that the objective holds; 0 where it says nothing.
    fn vouches_for(&self) -> f64 {
        let speaks = self.rate.is_none() && self.excess <= SURE && self.outstanding >= DEEP;
        if speaks { VOUCHED * self.carried } else { 0.0 }
    }
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// As fast as the target goes.
    Closed,
    /// At this rate, in requests per second.
    Open(f64),
    /// Nothing: the search is over.
    Done,
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The highest rate at which the objective was seen to hold, in requests per second; `None`
    /// where it held at none.
    pub rate: Option<f64>,
    /// Whether that rate was measured twice at least, and the objective holds over all of it.
    pub confirmed: bool,
    /// The lowest rate above it at which the objective did not hold; `None` where it held at all.
    pub fails_at: Option<f64>,
    /// Points that contradict each other, after repetitions: then there is no answer.
    pub contradiction: Option<Contradiction>,
}

/// The objective held at a rate and did not at a lower one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contradiction {
    /// The rate at which it did not hold, in requests per second.
    pub fails_at: f64,
    /// The higher rate at which it held; in a closed loop, what that carried.
    pub holds_at: f64,
    /// Whether it held there in the closed loop.
    pub in_closed_loop: bool,
}

/// All measurements at one rate.
#[derive(Clone, Copy, Debug)]
struct Rate {
    rate: f64,
    count: usize,
    excess: f64,
    error: f64,
    is_too_low: bool,
}

impl Rate {
    fn holds(&self) -> bool {
        self.excess <= 1.0
    }

    /// 1 ÷ excess: at a queue, this falls on a nearly straight line over the rate (M/M/1: 1 ÷
    /// response time = service rate − arrival rate).
    fn room(&self) -> f64 {
        (1.0 / self.excess.max(0.0)).min(MOST_ROOM)
    }
}

/// What to do after these points, in the order in which they were measured. Rates lie from 0 to
/// 10^12.
pub fn next(tried: &[Tried]) -> Next {
    match decide(tried) {
        Next::Open(rate) if !(rate > 0.0 && rate <= MOST_RATE) => Next::Done,
        Next::Open(rate) => Next::Open(in_few_digits(rate, tried)),
        next => next,
    }
}

/// A new rate to [`DIGITS`] significant digits: more say nothing, and nobody would type them. One
/// that was tried before stays as it is.
fn in_few_digits(rate: f64, tried: &[Tried]) -> f64 {
    if tried.iter().filter_map(|point| point.rate).any(|known| (known / rate - 1.0).abs() < 1e-6) {
        return rate;
    }
    let step = 10f64.powf(rate.log10().floor() + 1.0 - DIGITS);
    let rounded = (rate / step).round() * step;
    // What is a number of thousandths stays one: a plan counts in them.
    let rounded = (rounded * 1e3).round() / 1e3;
    if rounded > 0.0 { rounded } else { rate }
}

fn decide(tried: &[Tried]) -> Next {
    let Some(closed) = tried.first() else { return Next::Closed };
    let capacity = closed.carried;
    if !(capacity > 0.0 && capacity.is_finite()) || tried.len() >= MOST_POINTS {
        return Next::Done;
    }
    let rates = by_rate(tried);
    if rates.is_empty() {
        return Next::Open(FIRST * capacity);
    }
    if let Some(contradicted) =
        contradiction(tried, &rates).filter(|_| tried.len() + 1 < MOST_POINTS)
    {
        let of = |rate: f64| {
            rates.iter().find(|known| known.rate == rate).filter(|known| known.count < RETESTS)
        };
        // What failed is doubted first: others disturb a target, and nobody helps it.
        let doubted = of(contradicted.fails_at)
            .or_else(|| of(contradicted.holds_at).filter(|held| held.count < 2));
        return doubted.map_or(Next::Done, |rate| Next::Open(rate.rate));
    }
    // The last point belongs to the repetition, if there is none yet.
    let known = answer(tried);
    if let (Some(rate), false, true) = (known.rate, known.confirmed, tried.len() + 1 == MOST_POINTS)
    {
        return Next::Open(rate);
    }
    let Some(low) = rates.iter().rev().find(|rate| rate.holds()) else {
        return downwards(&rates, FIRST * capacity);
    };
    let high = rates.iter().find(|rate| rate.rate > low.rate);
    match high {
        None => upwards(&rates, low, capacity),
        Some(high) if !is_near(low, high) => Next::Open(between(low, high, tried)),
        Some(high) => settle(&rates, low, high, tried),
    }
}

/// Whether the bounds are so near that what is left is the noise: the figure at both is near its
/// limit, or the rates are as one.
fn is_near(low: &Rate, high: &Rate) -> bool {
    let apart = high.rate / low.rate;
    apart <= TIGHT || (apart <= NEAR && !is_steep(low, high))
}

/// Whether the figure leaps between the bounds: no straight line tells where.
fn is_steep(low: &Rate, high: &Rate) -> bool {
    low.excess < 1.0 / LEAP || high.excess > LEAP
}

/// The objective holds nowhere yet.
fn downwards(rates: &[Rate], first: f64) -> Next {
    DOWN.get(rates.len().saturating_sub(1)).map_or(Next::Done, |share| Next::Open(first * share))
}

/// The objective holds everywhere so far. What the closed loop carried is the likely end.
fn upwards(rates: &[Rate], low: &Rate, capacity: f64) -> Next {
    if low.rate >= 0.99 * capacity {
        return Next::Open(low.rate * UP);
    }
    let near = if low.room() >= MOST_ROOM { 1.2 } else { NEAR };
    if capacity / low.rate <= near {
        return Next::Open(capacity * 1.01);
    }
    // A figure that does not rise says nothing about where it will: a line through it would creep
    // towards the end.
    let before = rates.iter().rev().find(|rate| rate.rate < low.rate);
    if before.is_some_and(|before| before.room() < low.room() * FLAT) {
        return Next::Open(0.99 * capacity);
    }
    let end =
        Rate { rate: capacity, count: 0, excess: f64::INFINITY, error: 1.0, is_too_low: false };
    Next::Open(line(low, &end))
}

/// A rate between two, by the straight line through them; where that keeps to one side, in the
/// middle of their logarithms.
fn between(low: &Rate, high: &Rate, tried: &[Tried]) -> f64 {
    let open: Vec<&Tried> = tried.iter().filter(|point| point.rate.is_some()).collect();
    let one_sided = match open.as_slice() {
        [.., a, b] => (a.excess <= 1.0) == (b.excess <= 1.0) && open.len() > 2,
        _ => false,
    };
    if one_sided || !high.excess.is_finite() || low.room() >= MOST_ROOM {
        (low.rate * high.rate).sqrt()
    } else {
        line(low, high)
    }
}

fn line(low: &Rate, high: &Rate) -> f64 {
    let high_room = if high.excess.is_finite() { high.room() } else { 0.0 };
    let share = (low.room() - 1.0) / (low.room() - high_room).max(1e-9);
    let inside = if share.is_finite() { share.clamp(0.15, 0.85) } else { 0.5 };
    low.rate * (high.rate / low.rate).powf(inside)
}

/// The bounds are near: find the boundary among the noise, and make sure.
fn settle(rates: &[Rate], low: &Rate, high: &Rate, tried: &[Tried]) -> Next {
    let wanted =
        if is_steep(low, high) { low.rate } else { boundary(rates, low, high) * (1.0 - MARGIN) };
    let near = rates
        .iter()
        .filter(|rate| (rate.rate / wanted - 1.0).abs() <= SAME)
        .min_by(|a, b| (a.rate / wanted - 1.0).abs().total_cmp(&(b.rate / wanted - 1.0).abs()));
    match near {
        None => Next::Open(wanted),
        Some(near) if near.holds() && near.count > 1 => Next::Done,
        Some(near) if near.holds() => {
            // The repetition comes last: a target that changed meanwhile shows it.
            curve(rates, near.rate, tried.len()).map_or(Next::Open(near.rate), Next::Open)
        }
        Some(near) if near.count < 3 && near.excess.is_finite() => Next::Open(near.rate),
        Some(near) => Next::Open(near.rate * (1.0 - 2.0 * SAME)),
    }
}

/// A rate that the curve still lacks, as long as there is room for three points behind it.
fn curve(rates: &[Rate], answer: f64, tried: usize) -> Option<f64> {
    let lacks = |at: &f64| rates.iter().all(|rate| (rate.rate / at).ln().abs() > 0.1);
    CURVE.iter().map(|share| share * answer).find(lacks).filter(|_| tried + 4 <= MOST_POINTS)
}

/// Where the straight line of weighted least squares through the points near the bounds reaches the
/// objective.
fn boundary(rates: &[Rate], low: &Rate, high: &Rate) -> f64 {
    let middle = (low.rate * high.rate).sqrt();
    let is_near = |rate: &&Rate| {
        (rate.rate / middle).ln().abs() < 0.12 && (1.0 / LEAP..=LEAP).contains(&rate.excess)
    };
    let near: Vec<&Rate> = rates.iter().filter(is_near).collect();
    let weight = |rate: &&&Rate| 1.0 / (rate.room() * rate.error).max(1e-4).powi(2);
    let sum =
        |of: &dyn Fn(&Rate) -> f64| near.iter().map(|rate| weight(&rate) * of(rate)).sum::<f64>();
    let total = sum(&|_| 1.0);
    let (x, y) = (sum(&|rate| rate.rate.ln()) / total, sum(&|rate| rate.room()) / total);
    let spread = sum(&|rate| (rate.rate.ln() - x).powi(2));
    let fitted = sum(&|rate| (rate.rate.ln() - x) * (rate.room() - y)) / spread;
    // How steep it is between the bounds and the points further off, whose noise matters less.
    let far = rates.iter().find(|rate| rate.rate < middle / 1.12 && rate.holds());
    let chord = far.map_or(-2.0, |far| (y - far.room()) / (x - far.rate.ln()));
    // The curve bends down: it is no less steep here than on the way, and no queue makes it a
    // hundred times so.
    let steepest = chord.min(-0.3);
    let slope = if fitted.is_finite() { fitted.clamp(40.0 * steepest, steepest) } else { steepest };
    let at = (x + (1.0 - y) / slope).exp();
    if at.is_finite() { at.clamp(low.rate / NEAR, high.rate * NEAR) } else { low.rate }
}

/// The open-loop points by rate, in rising order; repetitions together: their mean, and from
/// [`RETESTS`] on the middle one, which one that was disturbed does not move.
fn by_rate(tried: &[Tried]) -> Vec<Rate> {
    let mut points: Vec<(f64, &Tried)> =
        tried.iter().filter_map(|point| Some((point.rate?, point))).collect();
    points.retain(|(rate, _)| *rate > 0.0);
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let together = points.chunk_by(|a, b| (a.0 / b.0 - 1.0).abs() < 1e-6);
    together
        .filter_map(|same| Some(at_one_rate(same.first()?.0, same.iter().map(|(_, point)| *point))))
        .collect()
}

fn at_one_rate<'a>(rate: f64, points: impl Iterator<Item = &'a Tried> + Clone) -> Rate {
    let mut excesses: Vec<f64> = points
        .clone()
        .map(|point| if point.excess.is_nan() { f64::INFINITY } else { point.excess })
        .collect();
    excesses.sort_by(f64::total_cmp);
    let count = excesses.len();
    let n = count as f64;
    let excess = if count < RETESTS {
        excesses.iter().sum::<f64>() / n
    } else {
        f64::midpoint(excesses[(count - 1) / 2], excesses[count / 2])
    };
    let known = |point: &Tried| {
        point.error.filter(|error| error.is_finite() && *error > 0.0).unwrap_or(UNKNOWN_ERROR)
    };
    let error = points.clone().map(|point| known(point).powi(2)).sum::<f64>().sqrt() / n;
    let too_low = points.filter(|point| point.is_too_low).count();
    Rate { rate, count, excess, error, is_too_low: 2 * too_low > count }
}

/// The lowest rate at which the objective does not hold although it holds at a higher one: that
/// one, or the closed loop. Rates as near to each other as bounds are at the end contradict
/// nothing: that is the noise.
fn contradiction(tried: &[Tried], rates: &[Rate]) -> Option<Contradiction> {
    let closed = tried.iter().max_by(|a, b| a.vouches_for().total_cmp(&b.vouches_for()));
    let highest = rates.iter().rev().find(|rate| rate.holds());
    let fails = rates.iter().find(|rate| !rate.holds())?;
    let by_rate = highest.filter(|held| fails.rate * NEAR < held.rate);
    let by_closed = closed.filter(|closed| fails.rate < closed.vouches_for());
    match (by_rate, by_closed) {
        (Some(held), _) => {
            Some(Contradiction { fails_at: fails.rate, holds_at: held.rate, in_closed_loop: false })
        }
        (None, Some(closed)) => Some(Contradiction {
            fails_at: fails.rate,
            holds_at: closed.carried,
            in_closed_loop: true,
        }),
        (None, None) => None,
    }
}

/// What these points say. Of two rates within 2 %, one that was confirmed is taken before a higher
/// one that was not. Points that contradict each other say nothing.
pub fn answer(tried: &[Tried]) -> Answer {
    let rates = by_rate(tried);
    if let Some(found) = contradiction(tried, &rates) {
        return Answer {
            rate: None,
            confirmed: false,
            fails_at: Some(found.fails_at),
            contradiction: Some(found),
        };
    }
    let highest = rates.iter().rev().find(|rate| rate.holds());
    let confirmed = rates.iter().rev().find(|rate| rate.holds() && rate.count > 1);
    let taken = match (confirmed, highest) {
        (Some(confirmed), Some(highest)) if confirmed.rate >= 0.98 * highest.rate => {
            Some(confirmed)
        }
        (_, highest) => highest,
    };
    let above = taken.map_or(0.0, |taken| taken.rate);
    let fails_at =
        rates.iter().find(|rate| rate.rate > above && !rate.holds()).map(|rate| rate.rate);
    // Where the highest rate is too low for the objective, all below it are.
    let taken = taken.filter(|taken| !taken.is_too_low);
    Answer {
        rate: taken.map(|taken| taken.rate),
        confirmed: taken.is_some_and(|taken| taken.count > 1),
        fails_at,
        contradiction: None,
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
