//! How a table of fields is declared: once, for the reader, for `--set` and for the reference.

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

/// Declares a table of a suite or of a testbed: the struct, how it is read, and its rows in the
/// reference. Its users bring `Reader`, `Given`, `Field` and `FieldDoc` into scope.
macro_rules! spec_table {
    ($(#[doc = $table_doc:literal])+ pub struct $name:ident {
        $($(#[doc = $doc:literal])+ $field:ident: $type:ty $(= $default:expr)?,)*
    }) => {
        $(#[doc = $table_doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: Given<$type>,)*
        }

        impl $name {
            /// What the table is for, as the reference prints it.
            pub const DOC: &'static str = concat!($($table_doc, "\n"),+);
            /// The keys of the table.
            pub const KEYS: &'static [&'static str] = &[$(stringify!($field)),*];

            /// Reads the fields of this table from `reader`, which the caller finishes.
            pub(crate) fn read(reader: &mut Reader<'_>) -> $name {
                $name { $($field: spec_table!(@read reader, $field, $type $(, $default)?),)* }
            }

            /// Computes those of the fields for which `wanted` holds and that were written as
            /// arithmetic, and says what came of each.
            pub fn compute(
                &mut self,
                wanted: impl Fn(&str) -> bool,
                lookup: &$crate::spec::arithmetic::Lookup<'_>,
            ) -> Vec<$crate::spec::arithmetic::Computed> {
                let mut computed = Vec::new();
                $(if wanted(stringify!($field)) {
                    computed.extend(self.$field.compute(stringify!($field), lookup));
                })*
                computed
            }

            /// The rows of the reference.
            pub fn reference() -> Vec<FieldDoc> {
                vec![$(FieldDoc {
                    key: stringify!($field),
                    kind: <$type as Field>::KIND,
                    default: spec_table!(@default $type $(, $default)?),
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
        Some(<$type as Field>::write(&$default))
    };
    (@default $type:ty) => {
        None
    };
}
pub(crate) use spec_table;
