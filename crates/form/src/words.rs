//! Fields that are one of a few words.

/// Declares an enum of words that a field of a table can have: the words are the values that a text
/// can have, and nothing else lists them. Who uses it has `model`.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($body:tt)* }) => {
        model::plain_words! { $(#[$meta])* pub enum $name { $($body)* } }
        $crate::field_of_words!($name);
    };
}

/// Has fields of tables take the words of enums that `words!` declared, here or in `model`.
#[macro_export]
macro_rules! field_of_words {
    ($($name:ty),+) => { $(
        impl $crate::Field for $name {
            const KIND: &'static str = <$name>::WORDS;

            fn read(node: &$crate::Node) -> Result<Self, model::units::UnitError> {
                let text = node.label();
                <$name>::ALL.iter().copied().find(|one| one.word() == text).ok_or_else(|| {
                    let words: Vec<&str> = <$name>::ALL.iter().map(|one| one.word()).collect();
                    model::units::UnitError {
                        message: format!("`{text}` is not one of {}", words.join(", ")),
                        remedy: $crate::word_remedy(&text, &words),
                    }
                })
            }

            fn write(&self) -> String {
                format!("\"{self}\"")
            }
        }
    )+ };
}
