//! How far a figure can be trusted.

crate::plain_words! {
    #[derive(PartialOrd, Ord)]
    /// How far a figure can be trusted, the least first.
    pub enum Level {
        /// It says nothing of what storage carries.
        NotAMeasurement = "not-a-measurement",
        /// It was measured, and something that a reader would ask for is missing or doubted.
        Indicative = "indicative",
        /// Its interval is known, it is steady, what it wrote is durable, and the caches in it are
        /// excluded or named.
        Quotable = "quotable",
    }
}
