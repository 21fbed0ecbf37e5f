//! Hosts that are shown while they are watched, without a run.

use super::lock;
use super::outlets::Outlets;
use crate::args::PageArgs;
use crate::failure::Failure;
use fleet::Watched;
use live::web::Dashboard;
use live::web::metrics::Detail;
use live::web::watched::Watching;
use model::Nanos;
use model::testbed::HostFacts;
use std::sync::{Arc, Mutex};

/// Hosts for others: their live page, and what is pushed of them.
pub(crate) struct WatchedPage {
    watching: Arc<Mutex<Watching>>,
    outlets: Outlets,
    newest: Option<u32>,
}

impl WatchedPage {
    pub(crate) fn start(
        options: &PageArgs,
        facts: &[HostFacts],
        interval: Nanos,
    ) -> Result<Option<WatchedPage>, Failure> {
        if options.serve.is_none() && options.push.is_none() {
            return Ok(None);
        }
        let now_ns = fleet::unix_ns();
        let watching = Watching::new(facts.to_vec(), env!("CARGO_PKG_VERSION"), now_ns, interval);
        let watching = Arc::new(Mutex::new(watching));
        let outlets = Outlets::start(options, watching.clone(), now_ns, None)?;
        Ok(Some(WatchedPage { watching, outlets, newest: None }))
    }

    fn push(&self) {
        self.outlets.push(fleet::unix_ns(), || lock(&self.watching).metrics(Detail::Auto));
    }

    pub(crate) fn watched(&mut self, watched: &Watched) {
        if let Watched::Counters(sample) = watched
            && self.newest.is_none_or(|newest| sample.number > newest)
            && self.newest.replace(sample.number).is_some()
        {
            // All that was told of the interval before.
            self.push();
        }
        let mut watching = lock(&self.watching);
        match watched {
            Watched::Counters(sample) => watching.counters(sample),
            Watched::Lost { host, why } => watching.lost(*host, why),
            Watched::Returned { host, facts } => watching.returned(*host, facts),
            Watched::Found(found) => watching.found(found),
        }
    }

    /// Nothing more comes: tells every reader, and ends.
    pub(crate) fn finish(self) {
        lock(&self.watching).end();
        self.push();
        self.outlets.finish();
    }
}
