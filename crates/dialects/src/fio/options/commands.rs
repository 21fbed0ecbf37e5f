//! Commands beside reads and writes, and priorities of single requests.

use crate::fio::job::{Commands, Job, Urgent};
use crate::loss::Verdict;
use crate::words::values::{number, three};

const ZEROES: &str = "trims with `trim_as = \"zeroes\"`: write zeroes of the block layer, which \
results call trims";
const READS: &str = "reads in place of verifying: the drive reads the same bytes and sends them; \
it compares nothing, so that no difference is found";

/// A number for reads and one for writes, none above `most`.
pub fn both(text: &str, most: u64) -> Result<[u64; 2], String> {
    let all = three(text, |part| number(part, 1024))?;
    let value = |number: usize| all[number].unwrap_or(0);
    match [value(0), value(1)] {
        both if both.iter().all(|value| *value <= most) => Ok(both),
        _ => Err(format!("`{text}` is more than {most}")),
    }
}

/// `64k/25/1/1:1024k/0`: size, how many of 100, class, level, hint; and whether there are hints.
fn sizes(text: &str, kilo: u64) -> Result<(Vec<Urgent>, bool), String> {
    let (mut all, mut has_hints) = (Vec::new(), false);
    for part in text.split(':').filter(|part| !part.trim().is_empty()).take(256) {
        let numbers: Result<Vec<u64>, String> =
            part.split('/').map(|number| self::number(number, kilo)).collect();
        let numbers = numbers?;
        let [size, percent, rest @ ..] = numbers.as_slice() else {
            return Err(format!("`{part}` has no share"));
        };
        let priority = match rest {
            [] => None,
            [class @ 0..=3, level @ 0..=7] => Some([*class, *level]),
            [class @ 0..=3, level @ 0..=7, hint] => {
                has_hints |= *hint > 0;
                Some([*class, *level])
            }
            _ => return Err(format!("`{part}` is no class and level")),
        };
        all.push(Urgent { size: *size, percent: *percent, priority });
    }
    let of_size = |size: u64| {
        let same = all.iter().filter(|one: &&Urgent| one.size == size);
        same.map(|one| one.percent).fold(0, u64::saturating_add)
    };
    match all.iter().find(|one| of_size(one.size) > 100) {
        Some(one) => Err(format!("shares of {} bytes of more than 100 %", one.size)),
        None => Ok((all, has_hints)),
    }
}

/// Priorities by the sizes of requests.
pub fn urgent_sizes(job: &mut Job, text: &str, told: Verdict) -> Result<Verdict, String> {
    let mut parts = text.split(',');
    let reads = sizes(parts.next().unwrap_or_default(), job.kilo())?;
    let writes = parts.next().map(|part| sizes(part, job.kilo())).transpose()?;
    let has_hints = reads.1 || writes.as_ref().is_some_and(|writes| writes.1);
    let (reads, writes) = (reads.0.clone(), writes.map_or(reads.0, |writes| writes.0));
    job.urgent_sizes = Some([reads, writes]);
    let hints = "without hints, a drive with command duration limits keeps to none";
    Ok(if has_hints { Verdict::near(format!("{}; {hints}", told.why)) } else { told })
}

/// What takes the place of writes.
pub fn commands(job: &mut Job, text: &str) -> Result<Verdict, String> {
    let parts: Vec<&str> = text.split(':').take(16).collect();
    let (mut all, mut given_percent) = (Commands::default(), 0);
    let mut has_verify = false;
    for part in &parts {
        let (word, share) = part.split_once('/').unwrap_or((part, ""));
        let percent = match share.trim() {
            "" => 100_u64.checked_div(parts.len() as u64).unwrap_or(100),
            share => number(share, 1024)?,
        };
        given_percent += percent.min(1_000);
        let slot = match word.trim() {
            "write" | "default" | "0" => &mut all.write,
            "zeroes" | "write_same_ndob" => &mut all.zeroes,
            "verify_bytchk_00" | "verify_bytchk_01" | "verify_bytchk_11" => {
                has_verify = true;
                &mut all.verify
            }
            // Of SCSI, the word means a write that is verified.
            "verify" if text.contains('/') || !is_scsi(job) => {
                has_verify = true;
                &mut all.verify
            }
            other => return Err(why_not(other)),
        };
        *slot += percent.min(100) * 10_000;
    }
    if given_percent != 100 {
        return Err(format!("`{text}` does not add up to 100 %"));
    }
    job.commands = Some(all);
    Ok(match (all.zeroes > 0, has_verify) {
        (false, false) => Verdict::harmless("this value asks for nothing"),
        (true, false) => Verdict::near(ZEROES),
        (false, true) => Verdict::near(READS),
        (true, true) => Verdict::near(format!("{ZEROES}; {READS}")),
    })
}

fn is_scsi(job: &Job) -> bool {
    let names = job.filename.iter().flatten();
    names.into_iter().any(|name| !name.starts_with("/dev/ng"))
}

fn why_not(word: &str) -> String {
    match word.trim() {
        "uncor" => "blocks that are marked as unreadable (write uncorrectable)".to_owned(),
        "zone_append" => "zone appends".to_owned(),
        "verify" | "write_and_verify" => "writes that the drive reads again".to_owned(),
        "same" | "write_same" => "one block of data for a whole range (write same)".to_owned(),
        "stream" | "write_stream" => "writes of a stream".to_owned(),
        other => format!("the command `{other}`"),
    }
}
