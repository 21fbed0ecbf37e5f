//! The answer of Prometheus to a range query:
//! `{"data":{"result":[{"metric":{…},"values":[[…]]}]}}`.

use super::gather::Gather;
use super::names::{self, ROWS};
use super::{MOST_COLUMNS, Refused, wrong};
use model::note::CounterForm;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    error: String,
    data: Option<Data>,
}

#[derive(Deserialize)]
struct Data {
    #[serde(default)]
    result: Vec<Series>,
}

#[derive(Deserialize)]
struct Series {
    #[serde(default)]
    metric: BTreeMap<String, String>,
    #[serde(default)]
    values: Vec<(f64, String)>,
}

pub(super) fn read(gather: &mut Gather<'_>, text: &str) -> Result<(), Refused> {
    gather.form = CounterForm::Prometheus;
    const REMEDY: &str = "write the answer of /api/v1/query_range into it";
    let answer: Answer = serde_json::from_str(text).map_err(|error| {
        let what = format!("it is no answer of Prometheus to a range query ({error})");
        wrong(gather.wanted, &what, REMEDY)
    })?;
    let Some(data) = answer.data else {
        let what = format!("Prometheus answered with an error: {}", answer.error);
        return Err(wrong(gather.wanted, &what, REMEDY));
    };
    if data.result.len() > MOST_COLUMNS {
        return Err(gather.too_wide());
    }
    let mut is_nameless = !data.result.is_empty();
    for (number, series) in (0..).zip(data.result) {
        let label = |name: &str| series.metric.get(name).map(String::as_str);
        let name = label("__name__").unwrap_or_default();
        is_nameless &= name.is_empty();
        let Some(row) = names::find_labelled(name, label) else {
            gather.leave_out(number);
            continue;
        };
        let thing = ROWS[row].counter.first().and_then(|key| label(key)).unwrap_or_default();
        let host = host(label("instance").unwrap_or_default());
        let Some(column) = gather.column(host, thing, row)? else { continue };
        for (seconds, value) in &series.values {
            let Some(at) = gather.instant(*seconds) else { continue };
            let Ok(value) = value.parse() else { continue };
            gather.take(at, column, value)?;
        }
    }
    match is_nameless {
        true => Err(wrong(
            gather.wanted,
            "its series have no names, as rate() and sum() leave them",
            "query the counters themselves: {__name__=~\"node_(cpu|disk|network).*\"}",
        )),
        false => Ok(()),
    }
}

/// An instance without its port.
fn host(instance: &str) -> &str {
    match instance.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|c| c.is_ascii_digit()) => host,
        _ => instance,
    }
}
