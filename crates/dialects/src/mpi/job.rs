//! What both tools say with words of their own.

pub use crate::apart::inside;
use crate::loss::{Losses, OptionId, Verdict};
use crate::table::Given;

/// A value and the option that gave it.
#[derive(Clone, Debug)]
pub struct Got<T> {
    /// The value.
    pub value: T,
    /// The option.
    pub id: OptionId,
}

impl<T: Clone> Got<T> {
    /// The option as comments name it.
    pub fn source(got: &Option<Got<T>>, losses: &Losses) -> String {
        got.as_ref().map(|got| losses.source(got.id)).unwrap_or_default()
    }
}

/// A value that the suite says as it is.
pub fn same<T>(
    slot: &mut Option<Got<T>>,
    given: &Given,
    value: T,
    field: &str,
) -> Result<Verdict, String> {
    *slot = Some(Got { value, id: given.id });
    Ok(Verdict::same(field))
}

/// A value that the suite comes near to.
pub fn near<T>(
    slot: &mut Option<Got<T>>,
    given: &Given,
    value: T,
    why: &str,
) -> Result<Verdict, String> {
    *slot = Some(Got { value, id: given.id });
    Ok(Verdict::near(why))
}

/// A number with IOR's units: `k`, `m`, `g`, `t` are powers of 1024.
pub fn number(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no number");
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match &text[digits.len()..] {
        "" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << power).filter(|number| *number <= 1 << 60).ok_or_else(wrong)
}

/// A path that a suite can hold.
pub fn path(text: &str) -> Result<String, String> {
    match text.len() <= 1_000 && !text.is_empty() && !text.chars().any(char::is_control) {
        true => Ok(text.to_owned()),
        false => Err("a path of at most 1,000 plain bytes".to_owned()),
    }
}
