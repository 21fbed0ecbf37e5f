//! What requests are made of, as a field of a table.

use crate::field::Field;
use crate::tree::Node;
use model::Object;
use model::units::UnitError;

impl Field for Object {
    const KIND: &'static str = "`blocks`, `shared-file` or an operation on files";

    fn read(node: &Node) -> Result<Object, UnitError> {
        let word = node.label();
        Object::from_word(&word).ok_or_else(|| UnitError {
            message: format!("`{word}` is nothing that requests are made of"),
            remedy:
                "write blocks, shared-file, or an operation such as create, stat, read-file or \
                     remove"
                    .to_owned(),
        })
    }

    fn write(&self) -> String {
        format!("\"{self}\"")
    }
}
