//! What `sadf -d` writes of sar's files: lines with semicolons, and a line of heads before each
//! activity. `# hostname;interval;timestamp;DEV;tps;…`

use super::gather::{Gather, TOTAL};
use super::{MOST_COLUMNS, Refused, names, three, unix_seconds, wrong};
use model::note::CounterForm;

pub(super) fn read(gather: &mut Gather<'_>, text: &str) -> Result<(), Refused> {
    gather.form = CounterForm::Sar;
    let mut heads: Vec<(u64, Option<usize>)> = Vec::new();
    let mut seen = 0;
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("# hostname;interval;timestamp;") {
            let (group, names) = head.split_once(';').unwrap_or((head, ""));
            if names.split(';').count() > MOST_COLUMNS {
                return Err(gather.too_wide());
            }
            let found = names.split(';').map(|name| names::find(CounterForm::Sar, group, name));
            heads = (seen..).zip(found).collect();
            // The same heads come again behind each restart of the host.
            heads.iter().filter(|(_, row)| row.is_none()).for_each(|(n, _)| gather.leave_out(*n));
            seen = seen.saturating_add(heads.len() as u64).min(MOST_COLUMNS as u64);
            continue;
        }
        let mut cells = line.split(';');
        let (Some(host), Some(_), Some(time)) = (cells.next(), cells.next(), cells.next()) else {
            continue;
        };
        let Some(at) = seconds(gather, time)?.and_then(|seconds| gather.instant(seconds)) else {
            continue;
        };
        let Some(thing) = cells.next().filter(|_| gather.is_near(at)) else { continue };
        let thing = if matches!(thing, "-1" | "all") { TOTAL } else { thing };
        for ((_, row), cell) in heads.iter().zip(cells) {
            let (Some(row), Ok(value)) = (row, cell.trim().replace(',', ".").parse()) else {
                continue;
            };
            if let Some(column) = gather.column(host, thing, *row)? {
                gather.take(at, column, value)?;
            }
        }
    }
    Ok(())
}

/// `2026-11-28 22:25:36 UTC`, or seconds since 1970. Without a zone it is that of the host.
fn seconds(gather: &Gather<'_>, time: &str) -> Result<Option<f64>, Refused> {
    if let Ok(seconds) = time.parse::<f64>() {
        return Ok(Some(seconds));
    }
    let mut words = time.split_whitespace();
    let (Some(date), Some(of_day)) = (words.next(), words.next()) else { return Ok(None) };
    let both = three(date, '-').zip(three(of_day, ':'));
    let Some(found) = both.and_then(|(date, time)| unix_seconds(date, time)) else {
        return Ok(None);
    };
    if words.next() != Some("UTC") && gather.wanted.offset_ns.is_none() {
        return Err(wrong(
            gather.wanted,
            "its times have no zone",
            "write it with `sadf -d` without -t or -T, or say what makes them UTC with --offset",
        ));
    }
    Ok(Some(found as f64))
}
