//! Enums whose variants are words: how they are declared, once.

/// Declares an enum of words that can stand on record: the words are its values in suites, plans
/// and reports, and nothing else lists them. Who uses it has `serde`.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $($rest:tt)+) => {
        $crate::plain_words! {
            #[derive(serde::Serialize, serde::Deserialize)]
            $(#[$meta])*
            pub enum $($rest)+
        }
    };
}

/// The same for words that stand on no record.
#[macro_export]
macro_rules! plain_words {
    ($(#[$meta:meta])* pub enum $name:ident { $(
        $(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// Every variant, in the order of the reference.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// Its words, as the reference lists them.
            pub const WORDS: &'static str = $crate::plain_words!(@join $($word),*);

            /// The word that stands for it in suites, plans and reports.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    };
    // `"a", "b"` as one literal: `"a" or "b"`.
    (@join $only:literal) => { concat!("`\"", $only, "\"`") };
    (@join $first:literal, $($rest:literal),+) => {
        concat!("`\"", $first, "\"`", $(" or `\"", $rest, "\"`"),+)
    };
}
