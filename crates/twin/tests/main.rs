//! Simulated devices, held to what is known of them: their texts, and the theory of queues.

mod prediction;
mod text;
mod theory;
