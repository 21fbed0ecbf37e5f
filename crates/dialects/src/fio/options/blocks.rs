//! Requests: what they do, how large they are, in what order.

use crate::fio::job::{Direction, Job, Split, Spread};
use crate::loss::Verdict;
use crate::words::values::{number, percent, three};

/// What requests do.
pub fn rw(job: &mut Job, text: &str, told: Verdict) -> Result<Verdict, String> {
    let (kind, behind) = match text.split_once(':') {
        Some((kind, behind)) => (kind.trim(), Some(behind.trim())),
        None => (text.trim(), None),
    };
    let (random, reads, writes, trims) = match kind {
        "read" => (false, true, false, false),
        "write" => (false, false, true, false),
        "trim" => (false, false, false, true),
        "randread" => (true, true, false, false),
        "randwrite" => (true, false, true, false),
        "randtrim" => (true, false, false, true),
        "rw" | "readwrite" => (false, true, true, false),
        "randrw" => (true, true, true, false),
        "trimwrite" => (false, false, true, true),
        "randtrimwrite" => (true, false, true, true),
        other => return Err(format!("`{other}` is no direction that fio knows")),
    };
    let behind = match behind {
        None => 0,
        Some(text) => {
            let (sign, bytes) = match text.strip_prefix('-') {
                Some(bytes) if !random => (-1, bytes),
                _ => (1, text),
            };
            sign * i64::try_from(number(bytes, job.kilo())?).unwrap_or(i64::MAX)
        }
    };
    job.rw = Some(Direction { random, reads, writes, trims, behind });
    Ok(match () {
        () if trims && writes => Verdict::near(
            "half are trims and half writes, each of a block of its own: as many requests reach \
             twice as many blocks; in fio a write follows the trim of its block",
        ),
        () if random && behind > 1 => Verdict::near(
            "`random`: one request in so many goes elsewhere on average, not after exactly so many",
        ),
        () => told,
    })
}

/// A range of sizes.
pub fn range(text: &str, kb_base: u64) -> Result<(u64, u64), String> {
    let (least, most) = text.split_once(['-', ':']).unwrap_or((text, text));
    let (least, most) = (number(least, kb_base)?, number(most, kb_base)?);
    match (1..=most).contains(&least) {
        true => Ok((least, most)),
        false => Err(format!("`{text}` is no range of sizes")),
    }
}

/// Whether a list has one value for all directions.
pub fn are_alike(text: &str, read: impl Fn(&str) -> Result<u64, String>) -> Result<bool, String> {
    let all = three(text, read)?;
    let mut given = all.iter().flatten();
    let first = given.next();
    Ok(given.all(|value| Some(value) == first))
}

/// `4k/70:64k/30`; a share that is left out has an equal part of what is left.
pub fn split(text: &str, kb_base: u64) -> Result<Split, String> {
    let mut parts: Vec<(u64, Option<u32>)> = Vec::new();
    for part in text.split(':').filter(|part| !part.trim().is_empty()).take(1_000) {
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let share = match share.trim() {
            "" => None,
            share => Some(
                share
                    .trim_end_matches('%')
                    .parse()
                    .map_err(|_| format!("`{share}` is no share"))?,
            ),
        };
        parts.push((number(size, kb_base)?, share));
    }
    let given: u32 = parts.iter().filter_map(|(_, share)| *share).fold(0, u32::saturating_add);
    let open = parts.iter().filter(|(_, share)| share.is_none()).count().max(1) as u32;
    let rest = 100_u32.saturating_sub(given) / open;
    if parts.is_empty() || given > 100 {
        return Err(format!("`{text}` is no split that adds up to 100 %"));
    }
    // What no share covers has the largest, which fio puts last.
    let uncovered = if parts.iter().any(|(_, share)| share.is_none()) { 0 } else { 100 - given };
    let largest =
        parts.iter().rposition(|part| Some(part.1) == parts.iter().map(|one| one.1).max());
    if let Some((_, Some(share))) = largest.and_then(|place| parts.get_mut(place)) {
        *share += uncovered;
    }
    let mut merged: Split = Vec::new();
    for (size, share) in parts {
        let share = share.unwrap_or(rest);
        match merged.iter_mut().find(|(known, _)| *known == size) {
            Some((_, weight)) => *weight = weight.saturating_add(share),
            None => merged.push((size, share)),
        }
    }
    merged.retain(|(_, share)| *share > 0);
    if merged.is_empty() { Err(format!("`{text}` has no share above 0")) } else { Ok(merged) }
}

/// How random offsets are spread.
pub fn distribution(text: &str) -> Result<Spread, String> {
    let text = text.trim();
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    // Where the hot part lies may stand behind it; it is scattered here as there.
    let first = rest.split([',', ':']).next().unwrap_or_default().trim();
    let thousandths = |default: f64| -> Result<u64, String> {
        let value: f64 = match first {
            "" => default,
            text => text.parse().map_err(|_| format!("`{text}` is no number"))?,
        };
        Ok((value.clamp(0.0, 100.0) * 1_000.0).round() as u64)
    };
    match kind {
        "random" => Ok(Spread::Even),
        "zipf" => Ok(Spread::Zipf(thousandths(1.1)?)),
        "pareto" => Ok(Spread::Pareto(thousandths(0.2)?)),
        "zoned" if rest.contains(',') => {
            Err("hot spots of their own for each direction".to_owned())
        }
        "zoned" => Ok(Spread::Zones(zones(rest)?)),
        "normal" => Err("offsets spread like a bell".to_owned()),
        "zoned_abs" => Err("hot spots by bytes; `zoned` has them by shares".to_owned()),
        "sequence" => {
            let list = rest.split(',').map(|word| word.trim().parse());
            let places: Option<Vec<u32>> = list.collect::<Result<_, _>>().ok();
            let fit = places.filter(|places| (1..=64).contains(&places.len()));
            Ok(Spread::Given(fit.ok_or("1 to 64 numbers of blocks")?))
        }
        other => Err(format!("`{other}` is no distribution that fio knows")),
    }
}

/// `50/5:30/15:20/`: shares of requests and of space.
fn zones(text: &str) -> Result<Vec<(u64, u64)>, String> {
    let mut zones: Vec<(u64, Option<u64>)> = Vec::new();
    for part in text.split(':').filter(|part| !part.trim().is_empty()).take(64) {
        let (requests, space) = part.split_once('/').unwrap_or((part, ""));
        let space = if space.trim().is_empty() { None } else { Some(percent(space)?) };
        zones.push((percent(requests)?, space));
    }
    let given: u64 = zones.iter().filter_map(|(_, space)| *space).sum();
    let requests: u64 = zones.iter().map(|(requests, _)| *requests).sum();
    if zones.is_empty() || given > 1_000_000 || requests > 1_000_000 {
        return Err(format!("`{text}` has no zones that add up to 100 %"));
    }
    let open = zones.iter().filter(|(_, space)| space.is_none()).count().max(1) as u64;
    let rest = (1_000_000 - given) / open;
    Ok(zones.into_iter().map(|(requests, space)| (requests, space.unwrap_or(rest))).collect())
}
