//! Files and sizes: where the load goes, and how much of it is loaded.

use super::later;
use crate::fio::job::{Job, Zones};
use crate::loss::Verdict;
use crate::rows::Given;
use crate::words::values::{Extent, extent, number};

/// A share from 0 to 1, in millionths.
pub fn ratio(text: &str) -> Result<u64, String> {
    let value: f64 = text.trim().parse().map_err(|_| format!("`{text}` is no number"))?;
    if (0.0..=1.0).contains(&value) {
        return Ok((value * 1e6).round() as u64);
    }
    Err(format!("`{text}` is no share from 0 to 1"))
}

/// A size, a share, or so many zones (`128z`) where the job says how large they are.
pub fn zoned(job: &Job, text: &str) -> Result<Extent, String> {
    let zones = text.trim().strip_suffix(['z', 'Z']).and_then(|zones| zones.parse::<u64>().ok());
    match (zones, job.number("zone_size")) {
        (Some(zones), Some(size)) => Ok(Extent::Bytes(zones.saturating_mul(size))),
        (Some(_), None) => Err("a size in zones, which the device alone knows".to_owned()),
        (None, _) => extent(text, job.kilo()),
    }
}

/// What lies between zones, in bytes.
pub fn skipped(job: &Job, text: &str) -> Result<u64, String> {
    match zoned(job, text)? {
        Extent::Bytes(bytes) => Ok(bytes),
        Extent::Share(_) => Err("a share of a device between its zones".to_owned()),
    }
}

/// One size of files, or the least and the most.
pub fn filesize(job: &mut Job, text: &str, told: Verdict) -> Result<Verdict, String> {
    let (least, most) = text.split_once(['-', ':']).unwrap_or((text, text));
    let sizes = (number(least, job.kilo())?, number(most, job.kilo())?);
    job.filesize = Some(sizes);
    let why = "every file has the mean of both sizes";
    Ok(if sizes.0 == sizes.1 { told } else { Verdict::near(why) })
}

/// Which of its files a worker takes.
pub fn service(text: &str) -> Verdict {
    match text.split(':').next().unwrap_or_default() {
        "roundrobin" | "random" => Verdict::same("all files of a worker are loaded alike"),
        "sequential" => Verdict::near("the files take turns, request by request"),
        _ => Verdict::refused("files of which some are loaded more than others"),
    }
}

/// How a job goes through zones.
pub fn zonemode(job: &mut Job, text: &str) -> Result<Verdict, String> {
    job.zones = match text {
        "none" => None,
        "strided" => Some(Zones::Strided),
        "zbd" => Some(Zones::OfDevice),
        other => return Err(format!("`{other}` is no way through zones that fio knows")),
    };
    Ok(later())
}

/// Zones that can be written to their end are plain ones.
pub fn capacity(job: &Job, told: Verdict) -> Verdict {
    let capacity = job.number("zone_capacity");
    match capacity == Some(0) || capacity == job.number("zone_size") {
        true => Verdict::harmless("zones can be written to their end"),
        false => told,
    }
}

/// No path is longer.
const LONGEST: usize = 1_000;
/// No list of paths is.
const MOST_NAMES: usize = 256;

/// Adds names to those that were given before, as fio does.
pub(super) fn add(job: &mut Job, given: &Given) -> Result<(), String> {
    job.filename.get_or_insert_default().extend(list(&given.value)?);
    job.named_by.push(given.id);
    Ok(())
}

/// A list with colons between; a colon with a backslash before it is one of a name.
pub fn list(text: &str) -> Result<Vec<String>, String> {
    let mut all = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&':') => {
                letters.next();
                all.last_mut().expect("never empty").push(':');
            }
            ':' => all.push(String::new()),
            letter => all.last_mut().expect("never empty").push(letter),
        }
    }
    all.retain(|name| !name.trim().is_empty());
    let is_odd = |name: &String| name.len() > LONGEST || name.chars().any(char::is_control);
    if all.iter().any(is_odd) || all.len() > MOST_NAMES {
        return Err(format!("at most {MOST_NAMES} paths of {LONGEST} plain bytes"));
    }
    Ok(all)
}
