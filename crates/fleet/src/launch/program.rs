//! This program on another host, for something else than an agent's work: it is brought there in
//! the same way, and greets in the same words.

use super::one::reach;
use super::process::Started;
use super::{Binary, Process, Via, Wanted};
use std::io::BufReader;
use std::process::{ChildStdin, ChildStdout};

/// This program on a host, with its streams. Its greeting has been read.
#[derive(Debug)]
pub struct Program {
    /// What it reads.
    pub input: ChildStdin,
    /// What it writes.
    pub output: BufReader<ChildStdout>,
    /// Ended when this is dropped.
    pub process: Process,
}

impl Program {
    /// Starts it on a host with these arguments.
    ///
    /// # Errors
    /// In words: why not, with a remedy.
    pub fn start(via: &Via, host: &str, arguments: &[String]) -> Result<Program, String> {
        let binary = Binary::own()
            .map_err(|why| format!("our own program cannot be read: {why}; start again"))?;
        let wanted = Wanted {
            via: via.clone(),
            hosts: vec![host.to_owned()],
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Wanted::default()
        };
        let reached = reach(&wanted, &binary, host, arguments, &|| false);
        let Started { process, input, output } = reached.map_err(|missing| {
            let remedy = missing.remedy.map(|remedy| format!("; {remedy}")).unwrap_or_default();
            format!("{}{remedy}", missing.what)
        })?;
        let input = input.ok_or_else(|| "it does not listen; start again".to_owned())?;
        Ok(Program { input, output, process })
    }
}
