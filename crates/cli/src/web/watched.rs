//! Hosts that are shown while they are watched, without a run.

use super::{Server, Site, lock, token};
use crate::args::WatchShareArgs;
use crate::failure::Failure;
use fleet::Watched;
use live::web::watched::Watching;
use model::Nanos;
use model::testbed::HostFacts;
use std::sync::{Arc, Mutex};

/// The live page of hosts.
pub struct WatchedPage {
    watching: Arc<Mutex<Watching>>,
    server: Server,
}

impl WatchedPage {
    /// Serves the page, if it was asked for.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn start(
        options: &WatchShareArgs,
        facts: &[HostFacts],
        interval: Nanos,
    ) -> Result<Option<WatchedPage>, Failure> {
        let Some(address) = options.serve else { return Ok(None) };
        let now_ns = fleet::unix_ns();
        let watching = Watching::new(facts.to_vec(), env!("CARGO_PKG_VERSION"), now_ns, interval);
        let watching = Arc::new(Mutex::new(watching));
        let server = Server::start(
            address,
            token(options.token.as_ref())?,
            Site::Live(watching.clone()),
            None,
        )?;
        eprintln!("{}", server.line("live page"));
        Ok(Some(WatchedPage { watching, server }))
    }

    /// Takes in what a host told.
    pub fn watched(&self, watched: &Watched) {
        let mut watching = lock(&self.watching);
        match watched {
            Watched::Counters(sample) => watching.counters(sample),
            Watched::Lost { host, why } => watching.lost(*host, why),
            Watched::Returned { host, facts } => watching.returned(*host, facts),
            Watched::Found(found) => watching.found(found),
        }
    }

    /// Nothing more comes: tells every reader, and ends.
    pub fn finish(self) {
        lock(&self.watching).end();
        self.server.finish();
    }
}
