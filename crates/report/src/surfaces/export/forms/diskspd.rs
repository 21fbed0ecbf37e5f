//! DiskSpd's XML: a time span for each job, with its amounts as those of one thread.

use super::{Exported, groups};
use crate::ground::markup::Markup;
use model::Op;
use model::foreign::{Form, GivenRow, Measured, Quantity, Span, Statistic};
use std::fmt::Write;

/// The rows as XML.
pub fn text(exported: Exported<'_>) -> Result<String, &'static str> {
    let spans: Vec<String> =
        groups(exported.rows).iter().filter_map(|rows| time_span(rows)).collect();
    if spans.is_empty() {
        return Err("no job of it has counts of reads or writes and a time");
    }
    let source = exported.sources.iter().find(|source| source.form == Form::DiskSpdXml);
    let version = source.map(|source| source.tool_version.as_str()).unwrap_or_default();
    let version = match version {
        "" => format!("plimsoll-{}", exported.version),
        version => version.to_owned(),
    };
    Ok(format!(
        "<Results>\n  <System>\n    <Tool>\n      <Version>{}</Version>\n    </Tool>\n  \
         </System>\n{}</Results>\n",
        escaped(&version),
        spans.concat()
    ))
}

/// A text from outside in XML.
fn escaped(text: &str) -> String {
    Markup::from(text).into_string()
}

/// The rows of a time span.
struct Rows<'a> {
    all: Option<&'a GivenRow>,
    read: Option<&'a GivenRow>,
    write: Option<&'a GivenRow>,
}

fn time_span(rows: &[&GivenRow]) -> Option<String> {
    let of = |op: Option<Op>| rows.iter().find(|row| row.op == op).copied();
    let rows = Rows { all: of(None), read: of(Some(Op::Read)), write: of(Some(Op::Write)) };
    let one = rows.all.or(rows.read).or(rows.write)?;
    let seconds = one.get(Quantity::whole(Measured::Time))? / 1e9;
    let count =
        |row: Option<&GivenRow>, measured| row.and_then(|row| row.get(Quantity::whole(measured)));
    let (reads, writes) =
        (count(rows.read, Measured::Requests), count(rows.write, Measured::Requests));
    let (reads, writes) = match (reads, writes) {
        (None, None) => return None,
        (reads, writes) => (reads.unwrap_or(0.0), writes.unwrap_or(0.0)),
    };
    let read_bytes = count(rows.read, Measured::Bytes).unwrap_or(0.0);
    let write_bytes = count(rows.write, Measured::Bytes).unwrap_or(0.0);
    let mut text = String::from("  <TimeSpan>\n");
    // Writing to a String cannot fail.
    let _ = writeln!(text, "    <TestTimeSeconds>{seconds:.2}</TestTimeSeconds>");
    text.push_str(&latency(&rows));
    text.push_str("    <Thread>\n      <Id>0</Id>\n      <Target>\n");
    let _ = writeln!(text, "        <Path>{}</Path>", escaped(&one.workload));
    for (name, value) in [
        ("BytesCount", read_bytes + write_bytes),
        ("IOCount", reads + writes),
        ("ReadBytes", read_bytes),
        ("ReadCount", reads),
        ("WriteBytes", write_bytes),
        ("WriteCount", writes),
    ] {
        let _ = writeln!(text, "        <{name}>{value:.0}</{name}>");
    }
    text.push_str("      </Target>\n    </Thread>\n  </TimeSpan>\n");
    Some(text)
}

/// Means and percentiles; nothing where none is known.
fn latency(rows: &Rows<'_>) -> String {
    let named = [("Read", rows.read), ("Write", rows.write), ("Total", rows.all)];
    let get = |row: Option<&GivenRow>, statistic| {
        row.and_then(|row| row.get(Quantity::latency(Span::Total, statistic))).map(|ns| ns / 1e6)
    };
    let mut text = String::new();
    for (name, row) in named {
        let deviation =
            if name == "Total" { "LatencyStdev".to_owned() } else { format!("{name}LatencyStdev") };
        if let Some(mean) = get(row, Statistic::Mean) {
            let _ = writeln!(
                text,
                "      <Average{name}Milliseconds>{mean:.3}</Average{name}Milliseconds>"
            );
        }
        if let Some(value) = get(row, Statistic::StdDev) {
            let _ = writeln!(text, "      <{deviation}>{value:.3}</{deviation}>");
        }
    }
    let mut shares: Vec<Statistic> = vec![Statistic::Least];
    let mut quantiles: Vec<u32> = named
        .iter()
        .filter_map(|(_, row)| *row)
        .flat_map(|row| row.quantiles(Span::Total))
        .map(|quantile| quantile.share)
        .collect();
    quantiles.sort_unstable();
    quantiles.dedup();
    shares.extend(quantiles.into_iter().map(Statistic::Quantile));
    shares.push(Statistic::Most);
    for statistic in shares {
        let values: Vec<(&str, f64)> =
            named.iter().filter_map(|(name, row)| Some((*name, get(*row, statistic)?))).collect();
        if values.is_empty() {
            continue;
        }
        let percent = match statistic {
            Statistic::Quantile(share) => f64::from(share) / 1e7,
            Statistic::Least => 0.0,
            _ => 100.0,
        };
        let _ = writeln!(text, "      <Bucket>\n        <Percentile>{percent}</Percentile>");
        for (name, value) in values {
            let _ = writeln!(text, "        <{name}Milliseconds>{value:.3}</{name}Milliseconds>");
        }
        text.push_str("      </Bucket>\n");
    }
    match text.is_empty() {
        true => text,
        false => format!("    <Latency>\n{text}    </Latency>\n"),
    }
}
