//! The evidence that a doubt rests on: counters, samples, facts of the hosts, notes, the flush
//! behind the load, or the plan; each with its figure.

use crate::ceiling::Layer;
use crate::doubts::Straggler;
use model::machines::DiskCache;
use model::note::OtherRun;
use model::{Bytes, Fact, Nanos, Op, Percent, Scale};
use std::collections::BTreeMap;

model::plain_words! {
    /// Where evidence comes from.
    pub enum Source {
        /// The plan of the run.
        Plan = "plan",
        /// The samples of the workers.
        Samples = "samples",
        /// What the kernels of the hosts counted.
        Counters = "counters",
        /// What the hosts, devices and file systems are, as the probe read it before the run.
        Facts = "facts",
        /// What agents noted while the run went on.
        Notes = "notes",
        /// The flush behind the load.
        Flush = "flush",
        /// A described testbed.
        Testbed = "testbed",
    }
}

/// A figure or a word of evidence.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// A number of things.
    Count(u64),
    /// A plain number: a share, a rate.
    Number(f64),
    /// A time in ns.
    Time(Nanos),
    /// An amount.
    Size(Bytes),
    /// A name, or a word of the kernel's.
    Word(String),
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// Where it comes from.
    pub source: Source,
    /// What it is: a stable word.
    pub what: &'static str,
    /// How much, or which.
    pub datum: Datum,
}

/// What a doubt holds, as evidence.
pub(super) trait Known {
    /// Its figures and words; none where it holds nothing.
    fn data(&self) -> Vec<Datum>;
}

/// Evidence from one source by one name.
pub(super) fn of(source: Source, what: &'static str, known: &(impl Known + ?Sized)) -> Vec<Proof> {
    known.data().into_iter().map(|datum| Proof { source, what, datum }).collect()
}

/// Failed requests: each errno, and how many.
pub(super) fn errors(by_errno: &BTreeMap<i32, u64>) -> Vec<Proof> {
    let of = |(number, times): (&i32, &u64)| {
        let name = model::errno::name_of(*number);
        [of(Source::Samples, "errno", &name), of(Source::Samples, "requests", times)].concat()
    };
    by_errno.iter().flat_map(of).collect()
}

macro_rules! known {
    ($($type:ty: $one:ident => $datum:expr;)*) => {
        $(impl Known for $type {
            fn data(&self) -> Vec<Datum> {
                let $one = self;
                vec![$datum]
            }
        })*
    };
}

known! {
    u64: count => Datum::Count(*count);
    u32: count => Datum::Count(u64::from(*count));
    i32: errno => Datum::Count(errno.unsigned_abs().into());
    f64: number => Datum::Number(*number);
    Nanos: time => Datum::Time(*time);
    Bytes: size => Datum::Size(*size);
    str: word => Datum::Word(word.to_owned());
    &str: word => Datum::Word((*word).to_owned());
    String: word => Datum::Word(word.clone());
    Op: op => Datum::Word(op.name().to_owned());
    DiskCache: mode => Datum::Word(mode.word().to_owned());
    Layer: layer => Datum::Word(layer.code().to_owned());
    Fact: fact => Datum::Word(fact.kind().word().to_owned());
    Straggler: straggler => Datum::Word(straggler.host.clone());
    OtherRun: other => Datum::Word(other.run.clone());
    Scale: scale => Datum::Word(scale.to_string());
    Percent: share => Datum::Number(f64::from(share.ppm) / 1e6);
}

impl<T: Known> Known for Vec<T> {
    fn data(&self) -> Vec<Datum> {
        self.iter().flat_map(Known::data).collect()
    }
}

impl<T: Known> Known for Option<T> {
    fn data(&self) -> Vec<Datum> {
        self.iter().flat_map(Known::data).collect()
    }
}
