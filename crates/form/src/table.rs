//! How a table of fields is declared: once, for the reader, for `--set` and for the reference.

use std::fmt::Write;

/// A field as the reference prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDoc {
    /// Its key.
    pub key: &'static str,
    /// Its type in words.
    pub kind: &'static str,
    /// Its default as TOML; `None` where it must be given.
    pub default: Option<String>,
    /// What it means.
    pub doc: String,
}

/// Writes one table of a reference: what it is for, and a row for each field.
pub fn write_table(page: &mut String, title: &str, doc: &str, rows: &[FieldDoc]) {
    // Writing to a String cannot fail.
    let _ = write!(
        page,
        "\n## {title}\n\n{}\n\n| field | type | default | meaning |\n|---|---|---|---|\n",
        paragraphs(doc)
    );
    for row in rows {
        let default =
            row.default.as_ref().map_or("(must be given)".to_owned(), |text| format!("`{text}`"));
        let _ = writeln!(page, "| `{}` | {} | {} | {} |", row.key, row.kind, default, row.doc);
    }
}

/// Declares a table of a suite or of a testbed: the struct, how it is read, and its rows in the
/// reference.
#[macro_export]
macro_rules! spec_table {
    ($(#[doc = $table_doc:literal])+ pub struct $name:ident {
        $($(#[doc = $doc:literal])+ $field:ident: $type:ty $(= $default:expr)?,)*
    }) => {
        $(#[doc = $table_doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: $crate::Given<$type>,)*
        }

        impl $name {
            /// What the table is for, as the reference prints it.
            pub const DOC: &'static str = concat!($($table_doc, "\n"),+);
            /// The keys of the table.
            pub const KEYS: &'static [&'static str] = &[$(stringify!($field)),*];

            /// Reads the fields of this table from `reader`, which the caller finishes.
            pub(crate) fn read(reader: &mut $crate::Reader<'_>) -> $name {
                $name {
                    $($field: $crate::spec_table!(@read reader, $field, $type $(, $default)?),)*
                }
            }

            /// Computes those of the fields for which `wanted` holds and that were written as
            /// arithmetic, and says what came of each.
            pub fn compute(
                &mut self,
                wanted: impl Fn(&str) -> bool,
                lookup: &$crate::arithmetic::Lookup<'_>,
            ) -> Vec<$crate::arithmetic::Computed> {
                let mut computed = Vec::new();
                $(if wanted(stringify!($field)) {
                    computed.extend(self.$field.compute(stringify!($field), lookup));
                })*
                computed
            }

            /// Where each of these fields was given, by its key.
            pub fn given_of(&self, keys: &str) -> Vec<(&'static str, $crate::Span)> {
                let all = [$((stringify!($field), &self.$field.span)),*];
                let wanted = all.into_iter().filter(|(key, _)| keys.split(' ').any(|k| k == *key));
                wanted.filter_map(|(key, span)| Some((key, span.clone()?))).collect()
            }

            /// The rows of the reference.
            pub fn reference() -> Vec<$crate::FieldDoc> {
                vec![$($crate::FieldDoc {
                    key: stringify!($field),
                    kind: <$type as $crate::Field>::KIND,
                    default: $crate::spec_table!(@default $type $(, $default)?),
                    doc: concat!($($doc),+).trim().to_owned(),
                },)*]
            }
        }
    };
    (@read $reader:ident, $field:ident, $type:ty, $default:expr) => {
        $reader.field::<$type>(stringify!($field), $default)
    };
    (@read $reader:ident, $field:ident, $type:ty) => {
        $reader.required::<$type>(stringify!($field))
    };
    (@default $type:ty, $default:expr) => {
        Some(<$type as $crate::Field>::write(&$default))
    };
    (@default $type:ty) => {
        None
    };
}

/// The paragraphs of a doc comment, each on one line, as Markdown is wrapped by its reader.
fn paragraphs(doc: &str) -> String {
    let mut text = String::new();
    for line in doc.trim().lines().map(str::trim) {
        text.push_str(match (line.is_empty(), text.is_empty() || text.ends_with('\n')) {
            (true, _) => "\n\n",
            (false, true) => "",
            (false, false) => " ",
        });
        text.push_str(line);
    }
    text
}
