//! JSON as tests read it: what has to be there is, or the test fails and shows what was there.

use serde_json::Value;

/// What the program shows as JSON.
pub trait Json {
    /// A list.
    #[track_caller]
    fn list(&self) -> &Vec<Value>;
    /// A text.
    #[track_caller]
    fn text(&self) -> &str;
    /// A whole number.
    #[track_caller]
    fn count(&self) -> u64;
    /// A number.
    #[track_caller]
    fn number(&self) -> f64;

    /// This field of each member of a list, where it is a text.
    #[track_caller]
    fn texts(&self, field: &str) -> Vec<&str>;

    /// This field of each member of a list, added up.
    #[track_caller]
    fn sum(&self, field: &str) -> u64;

    /// What a row is doubted for, as the words for machines.
    #[track_caller]
    fn codes(&self) -> Vec<&str>;

    /// The row of a workload and an operation.
    #[track_caller]
    fn row(&self, workload: &str, op: &str) -> &Value;

    /// What the note of this kind says, if there is one.
    #[track_caller]
    fn note(&self, code: &str) -> Option<&str>;

    /// What the doubt of this kind says of a row.
    #[track_caller]
    fn doubt(&self, code: &str) -> &str;

    /// A field of all that was issued by this operation, added up.
    #[track_caller]
    fn issued(&self, op: &str, field: &str) -> u64;
}

impl Json for Value {
    fn list(&self) -> &Vec<Value> {
        self.as_array().unwrap_or_else(|| panic!("no list: {self}"))
    }

    fn text(&self) -> &str {
        self.as_str().unwrap_or_else(|| panic!("no text: {self}"))
    }

    fn count(&self) -> u64 {
        self.as_u64().unwrap_or_else(|| panic!("no whole number: {self}"))
    }

    fn number(&self) -> f64 {
        self.as_f64().unwrap_or_else(|| panic!("no number: {self}"))
    }

    fn texts(&self, field: &str) -> Vec<&str> {
        self.list().iter().filter_map(|one| one[field].as_str()).collect()
    }

    fn sum(&self, field: &str) -> u64 {
        self.list().iter().map(|one| one[field].count()).sum()
    }

    fn codes(&self) -> Vec<&str> {
        self["warnings"].texts("code")
    }

    fn row(&self, workload: &str, op: &str) -> &Value {
        let found = self["results"]
            .list()
            .iter()
            .find(|row| row["workload"] == workload && row["op"] == op);
        found.unwrap_or_else(|| panic!("no {op} of {workload} in {self:#}"))
    }

    fn note(&self, code: &str) -> Option<&str> {
        let note = self["notes"].list().iter().find(|note| note["code"] == code)?;
        Some(note["message"].text())
    }

    fn doubt(&self, code: &str) -> &str {
        let doubt = self["warnings"].list().iter().find(|doubt| doubt["code"] == code);
        doubt.unwrap_or_else(|| panic!("no doubt `{code}` in {self:#}"))["message"].text()
    }

    fn issued(&self, op: &str, field: &str) -> u64 {
        let of_op = self["issued"].list().iter().filter(|total| total["op"] == op);
        of_op.map(|total| total[field].count()).sum()
    }
}
