//! What all objects for machines share.

pub use crate::{fields, object};
use analysis::QUANTILES;
use model::Histogram;
use serde::Serialize;
pub use serde_json::{Map, Value, json};

/// The version of the layout of objects that are no results.
pub const FORMAT: u32 = 1;

/// An object for machines: `key: value`, `key` alone of a variable, and of a value the fields and
/// figures that are called as in it, `..value { field, figure() }`. Keys are written in the order
/// of the alphabet.
#[macro_export]
macro_rules! object {
    ($($fields:tt)*) => {{
        let mut object = $crate::pens::json::Map::new();
        $crate::fields!(object $($fields)*);
        $crate::pens::json::Value::Object(object)
    }};
}

/// Puts fields into a map that is there, as [`object!`] has them.
#[macro_export]
macro_rules! fields {
    ($map:ident $(,)?) => {};
    ($map:ident .. $of:ident { $($field:ident $(($($no:tt)*))?),* $(,)? } $(, $($rest:tt)*)?) => {
        $($map.insert(
            stringify!($field).to_owned(),
            $crate::pens::json::json!($of.$field $(($($no)*))?),
        );)*
        $crate::fields!($map $($($rest)*)?);
    };
    ($map:ident $key:ident $(, $($rest:tt)*)?) => {
        $map.insert(stringify!($key).to_owned(), $crate::pens::json::json!($key));
        $crate::fields!($map $($($rest)*)?);
    };
    ($map:ident $key:ident : $value:expr $(, $($rest:tt)*)?) => {
        $map.insert(stringify!($key).to_owned(), $crate::pens::json::json!($value));
        $crate::fields!($map $($($rest)*)?);
    };
}

/// A list of an object, or another value, for each.
pub fn each<T, V: Serialize>(all: impl IntoIterator<Item = T>, one: impl Fn(T) -> V) -> Vec<Value> {
    all.into_iter().map(|item| json!(one(item))).collect()
}

/// A value as it is kept.
pub fn value(kept: &impl Serialize) -> Value {
    json!(kept)
}

pub(crate) fn quantiles(latency: &Histogram) -> Value {
    let mut values = Map::new();
    values.insert("mean".to_owned(), latency.mean_ns().into());
    for quantile in QUANTILES {
        values.insert(quantile.key.to_owned(), latency.quantile_ns(quantile.share).into());
    }
    values.insert("max".to_owned(), latency.max_ns().into());
    Value::Object(values)
}

/// Those of the mean, quantiles and the maximum that `keys` names.
pub(crate) fn some_quantiles(latency: &Histogram, keys: &str) -> Value {
    let mut all = quantiles(latency);
    let is_named = |key: &str| keys.split(' ').any(|one| one == key);
    all.as_object_mut().into_iter().for_each(|all| all.retain(|key, _| is_named(key)));
    all
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_named_fields_and_those_of_values() {
        let pair = model::Nanos(7);
        let list = [1, 2];
        let told = object! { first: list.first(), ..list { len() }, ns: pair.0, nothing: () };
        assert_eq!(told.to_string(), r#"{"first":1,"len":2,"nothing":null,"ns":7}"#);
        assert_eq!(each([1, 2], |one| one * 2), [2, 4]);
    }

    #[test]
    fn no_zero_has_a_sign() {
        let nothing: f64 = [0.0; 0].iter().sum();
        let told = plain(json!({"a": [nothing, -0.0, -0.5, 3], "b": {"c": -0.0}})).to_string();
        assert_eq!(told, "{\"a\":[0.0,0.0,-0.5,3],\"b\":{\"c\":0.0}}");
    }
}
