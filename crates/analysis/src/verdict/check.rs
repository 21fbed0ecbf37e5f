//! What a figure is checked for, and how a check can go.

model::plain_words! {
    #[derive(PartialOrd, Ord)]
    /// What a figure is checked for.
    pub enum Check {
        /// The 95 % intervals of rate and p99.
        Intervals = "intervals",
        /// SNIA's rule holds over the measured time.
        Steady = "steady",
        /// How long it takes until what was written is durable.
        Durability = "durability",
        /// Which caches are a part of the figure.
        Caches = "caches",
    }
}

model::plain_words! {
    /// How a check went.
    pub enum Found {
        /// The evidence is there.
        Shown = "shown",
        /// There is nothing to check.
        NotNeeded = "not-needed",
        /// The evidence is missing.
        Missing = "missing",
        /// The evidence speaks against it.
        Refuted = "refuted",
    }
}
