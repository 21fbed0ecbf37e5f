//! The CSV of Windows' performance data helper: perfmon, relog, logman, typeperf; esxtop writes the
//! same. `"(PDH-CSV 4.0) (W. Europe Standard Time)(-60)","\\HOST\Group(instance)\counter",…`

use super::gather::Gather;
use super::{MOST_COLUMNS, Refused, names, three, unix_seconds, wrong};
use model::note::CounterForm;

/// Groups that only esxtop has.
const OF_ESXTOP: [&str; 3] = ["\\Physical Cpu", "\\Physical Disk", "\\Network Port("];

pub(super) fn read(gather: &mut Gather<'_>, text: &str) -> Result<(), Refused> {
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let between = delimiter(header);
    if OF_ESXTOP.iter().any(|group| header.contains(group)) {
        gather.form = CounterForm::Esxtop;
    }
    let mut cells = cells(header, between);
    let bias_s = bias_s(gather, &cells.next().unwrap_or_default())?;
    let mut columns: Vec<Option<u32>> = Vec::new();
    for (number, cell) in (0..).zip(cells) {
        if columns.len() >= MOST_COLUMNS {
            return Err(gather.too_wide());
        }
        columns.push(column(gather, number, &cell)?);
    }
    let mut last = 0;
    for line in lines {
        let mut cells = self::cells(line, between);
        let Some(local) = cells.next().and_then(|cell| seconds(&cell)) else { continue };
        let Some(at) = gather.instant(local + bias_s) else { continue };
        // Where a clock is set back, an hour comes twice: nobody knows which is which.
        if at <= last {
            continue;
        }
        last = at;
        if !gather.is_near(at) {
            continue;
        }
        gather.read_all(at);
        for (column, cell) in columns.iter().zip(cells) {
            let (Some(column), Some(value)) = (column, number(&cell)) else { continue };
            gather.take(at, *column, value)?;
        }
    }
    Ok(())
}

/// What stands behind the first cell's closing quote.
fn delimiter(header: &str) -> char {
    let behind = header.trim_start_matches('"').split_once('"').map_or("", |(_, behind)| behind);
    behind.chars().next().filter(|c| matches!(c, ',' | ';' | '\t')).unwrap_or(',')
}

/// The cells of a line: in quotes, which double within them, or bare.
fn cells(line: &str, between: char) -> impl Iterator<Item = String> + '_ {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(quoted) = text.strip_prefix('"') else {
            let (cell, behind) =
                text.split_once(between).map_or((text, None), |(a, b)| (a, Some(b)));
            rest = behind;
            return Some(cell.to_owned());
        };
        let mut cell = String::new();
        let mut from = quoted;
        loop {
            let Some((part, behind)) = from.split_once('"') else {
                // Cut off in the midst of a cell: what it was to say is not known.
                rest = None;
                return Some(String::new());
            };
            cell.push_str(part);
            match behind.strip_prefix('"') {
                Some(more) => {
                    cell.push('"');
                    from = more;
                }
                None => {
                    rest = behind.strip_prefix(between);
                    return Some(cell);
                }
            }
        }
    })
}

/// Seconds from the host's time to UTC: minutes stand at the end of the first cell. Without them,
/// as typeperf writes it, nobody knows.
fn bias_s(gather: &Gather<'_>, cell: &str) -> Result<f64, Refused> {
    let minutes = cell.trim().strip_suffix(')').and_then(|cell| cell.rsplit_once('('));
    match minutes.and_then(|(_, minutes)| minutes.parse::<i32>().ok()) {
        Some(minutes) if minutes.unsigned_abs() <= 26 * 60 => Ok(f64::from(minutes) * 60.0),
        _ if gather.wanted.offset_ns.is_some() => Ok(0.0),
        _ => Err(wrong(
            gather.wanted,
            "its first cell names no time zone",
            "say what makes its times UTC with --offset, such as -1h for Central Europe in \
             winter, or 0s",
        )),
    }
}

fn column(gather: &mut Gather<'_>, number: u64, cell: &str) -> Result<Option<u32>, Refused> {
    let (host, path) = match cell.strip_prefix("\\\\") {
        Some(rest) => rest.split_once('\\').unwrap_or_default(),
        None => ("", cell.trim_start_matches('\\')),
    };
    let (group, counter) = path.rsplit_once('\\').unwrap_or_default();
    let (group, thing) = match group.strip_suffix(')').and_then(|group| group.split_once('(')) {
        Some((group, thing)) => (group, thing),
        None => (group, ""),
    };
    // Ports of guests hang off the same switches: a byte counts at the card.
    let card = thing.rsplit(':').next().unwrap_or_default();
    let is_guest =
        gather.form == CounterForm::Esxtop && group == "Network Port" && !card.starts_with("vmnic");
    let found = names::find(gather.form, group, counter).filter(|_| !is_guest);
    let Some(row) = found else {
        gather.leave_out(number);
        return Ok(None);
    };
    let thing = match gather.form {
        CounterForm::Esxtop if group == "Network Port" => card,
        _ => thing,
    };
    gather.column(host, thing, row)
}

/// `11/28/2026 22:25:36.123` in every language.
fn seconds(cell: &str) -> Option<f64> {
    let (date, time) = cell.trim().split_once(' ')?;
    let [month, day, year] = three(date, '/')?;
    let (time, part) = time.split_once('.').unwrap_or((time, "0"));
    let part: f64 = format!("0.{part}").parse().ok()?;
    Some(unix_seconds([year, month, day], three(time, ':')?)? as f64 + part)
}

/// A value; some locales have a decimal comma.
fn number(cell: &str) -> Option<f64> {
    let cell = cell.trim();
    if cell.is_empty() {
        return None;
    }
    match cell.contains('.') {
        true => cell.parse().ok(),
        false => cell.replace(',', ".").parse().ok(),
    }
}
