//! A field of names.

use form::{Field, Node, Value};
use model::units::UnitError;

/// Names, one or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl Field for Names {
    const KIND: &'static str = "name or list of names";

    fn read(node: &Node) -> Result<Names, UnitError> {
        match &node.value {
            Value::Array(nodes) => {
                nodes.iter().map(String::read).collect::<Result<_, _>>().map(Names)
            }
            _ => String::read(node).map(|name| Names(vec![name])),
        }
    }

    fn write(&self) -> String {
        let names: Vec<String> = self.0.iter().map(String::write).collect();
        format!("[{}]", names.join(", "))
    }
}
