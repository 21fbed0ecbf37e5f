//! Where a page goes: to the server that shows it, and to who is pushed its metrics.

use super::site::SharedBoard;
use super::{Pusher, Server, Site, protection};
use crate::args::PageArgs;
use crate::failure::Failure;
use fleet::Marker;
use live::push::Snapshot;
use live::web::metrics::Scrape;

pub(super) struct Outlets {
    pub(super) server: Option<Server>,
    pusher: Option<Pusher>,
    began_unix_ns: u64,
}

impl Outlets {
    /// Serves the page and begins to push, if that was asked for.
    pub(super) fn start(
        page: &PageArgs,
        board: SharedBoard,
        began_unix_ns: u64,
        marker: Option<Marker>,
    ) -> Result<Outlets, Failure> {
        let pusher = Pusher::start(page.push.as_ref())?;
        let serve = |address| {
            let protection = protection(page.token.as_ref(), &page.tls)?;
            Server::start(address, protection, Site::Live(board), marker)
        };
        let server = page.serve.map(serve).transpose()?;
        server.iter().for_each(|server| eprintln!("{}", server.line("live page")));
        Ok(Outlets { server, pusher, began_unix_ns })
    }

    pub(super) fn push(&self, unix_ns: u64, scrape: impl FnOnce() -> Scrape) {
        if let Some(pusher) = &self.pusher {
            let (began_unix_ns, scrape) = (self.began_unix_ns, scrape());
            pusher.put(Snapshot { unix_ns, began_unix_ns, scrape });
        }
    }

    /// Pushes what waits; gives back the server, which goes on.
    pub(super) fn end_pushing(self) -> Option<Server> {
        if let Some(pusher) = self.pusher {
            pusher.finish();
        }
        self.server
    }

    /// Nothing more comes: pushes what waits, tells every reader, and ends.
    pub(super) fn finish(self) {
        if let Some(server) = self.end_pushing() {
            server.finish();
        }
    }
}
