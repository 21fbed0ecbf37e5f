//! What all objects for machines share.

use analysis::QUANTILES;
use model::Histogram;
use serde_json::{Map, Value};

/// The version of the layout of objects that are no results.
pub const FORMAT: u32 = 1;

/// Mean, quantiles and maximum.
pub(crate) fn quantiles(latency: &Histogram) -> Value {
    let mut values = Map::new();
    values.insert("mean".to_owned(), latency.mean_ns().into());
    for quantile in QUANTILES {
        values.insert(quantile.key.to_owned(), latency.quantile_ns(quantile.share).into());
    }
    values.insert("max".to_owned(), latency.max_ns().into());
    Value::Object(values)
}

/// The same with 0 for each −0, which a sum of nothing is: readers of JSON take it for a sign.
pub fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() && number.as_f64() == Some(0.0) => {
            Value::from(0.0)
        }
        Value::Array(values) => values.into_iter().map(plain).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(key, value)| (key, plain(value))).collect()
        }
        other => other,
    }
}
