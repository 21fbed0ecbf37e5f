//! Hosts that are shown while they are watched, without a run.

use super::push::Queue;
use super::{Pusher, Server, Site, lock, protection};
use crate::args::WatchShareArgs;
use crate::failure::Failure;
use fleet::Watched;
use live::push::Snapshot;
use live::web::Dashboard;
use live::web::metrics::Detail;
use live::web::watched::Watching;
use model::Nanos;
use model::testbed::HostFacts;
use std::sync::{Arc, Mutex};

/// Hosts for others: their live page, and what is pushed of them.
pub(crate) struct WatchedPage {
    watching: Arc<Mutex<Watching>>,
    server: Option<Server>,
    push: Option<Push>,
}

struct Push {
    pusher: Pusher,
    queue: Arc<Queue>,
    began_unix_ns: u64,
    newest: Option<u32>,
}

impl WatchedPage {
    /// Serves the page and begins to push, if that was asked for.
    ///
    /// # Errors
    /// As [`Server::start`] and [`Pusher::start`].
    pub(crate) fn start(
        options: &WatchShareArgs,
        facts: &[HostFacts],
        interval: Nanos,
    ) -> Result<Option<WatchedPage>, Failure> {
        if options.serve.is_none() && options.push.is_none() {
            return Ok(None);
        }
        let now_ns = fleet::unix_ns();
        let watching = Watching::new(facts.to_vec(), env!("CARGO_PKG_VERSION"), now_ns, interval);
        let watching = Arc::new(Mutex::new(watching));
        let push = Pusher::start(options.push.as_ref())?.map(|pusher| {
            let queue = pusher.queue();
            Push { pusher, queue, began_unix_ns: now_ns, newest: None }
        });
        let serve = |address| {
            let site = Site::Live(watching.clone());
            Server::start(address, protection(options.token.as_ref(), &options.tls)?, site, None)
        };
        let server = options.serve.map(serve).transpose()?;
        server.iter().for_each(|server| eprintln!("{}", server.line("live page")));
        Ok(Some(WatchedPage { watching, server, push }))
    }

    pub(crate) fn watched(&mut self, watched: &Watched) {
        if let (Some(push), Watched::Counters(sample)) = (&mut self.push, watched)
            && push.newest.is_none_or(|newest| sample.number > newest)
        {
            // All that was told of the interval before.
            if push.newest.replace(sample.number).is_some() {
                push.put(&lock(&self.watching));
            }
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
        if let Some(push) = self.push {
            push.put(&lock(&self.watching));
            push.pusher.finish();
        }
        if let Some(server) = self.server {
            server.finish();
        }
    }
}

impl Push {
    fn put(&self, watching: &Watching) {
        self.queue.put(Snapshot {
            unix_ns: fleet::unix_ns(),
            began_unix_ns: self.began_unix_ns,
            scrape: watching.metrics(Detail::Auto),
        });
    }
}
