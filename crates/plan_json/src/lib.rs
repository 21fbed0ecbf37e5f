//! Plans, facts of hosts and facts of notes as JSON: the one place where they are written and read.
//!
//! What serde makes of a plan is long, and is made again in each crate and for each form that asks
//! for it. So none of these functions is generic, and the crate is not optimised: a plan is read
//! once in a run.

use model::plan::{HostPlan, HostStage};
use model::testbed::HostFacts;
use model::{Fact, Plan};

/// Why a text is none of these.
pub use serde_json::Error;

macro_rules! written_and_read {
    ($($module:ident: $what:ty, $words:literal;)*) => {$(
        #[doc = concat!("JSON of ", $words, ".")]
        pub mod $module {
            use super::*;
            use serde::{Deserialize, Deserializer, Serializer};

            #[doc = concat!("Writes ", $words, ".")]
            ///
            /// # Errors
            /// None that one of ours has: its maps have names for keys.
            pub fn write(value: &$what) -> Result<String, Error> {
                serde_json::to_string(value)
            }

            #[doc = concat!("Reads ", $words, ".")]
            ///
            /// # Errors
            /// The text is none.
            pub fn read(text: &str) -> Result<$what, Error> {
                serde_json::from_str(text)
            }

            /// As one text, in a message of another form.
            ///
            /// # Errors
            /// Those of the message.
            pub fn serialize<S: Serializer>(value: &$what, to: S) -> Result<S::Ok, S::Error> {
                let text = write(value).map_err(serde::ser::Error::custom)?;
                to.serialize_str(&text)
            }

            /// The same, read.
            ///
            /// # Errors
            /// Those of the message, and the text is none.
            pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<$what, D::Error> {
                let text = String::deserialize(from)?;
                read(&text).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

written_and_read! {
    plan: Plan, "the plan of a run";
    host_plan: Box<HostPlan>, "a host's share of a plan";
    stages: Vec<HostStage>, "stages of a host";
    host_facts: HostFacts, "what a host says of itself";
    fact: Fact, "the fact of a note";
}
