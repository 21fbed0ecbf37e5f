//! The live page and the metrics of a run, or of hosts that are watched, over HTTP. What is shown
//! comes from `live::web`; here is who may see it, and the server. What is pushed comes from
//! `live::push`; here is who sends it.

mod access;
mod canary;
mod certificate;
mod live;
mod outlets;
mod peer;
mod push;
mod server;
mod site;
mod stream;
#[cfg(test)]
mod thousand_tests;
mod tls;
mod watched;

pub(crate) use access::{Token, listen_address};
pub(crate) use canary::CanaryPage;
pub(crate) use live::LivePage;
pub(crate) use push::Destination;
use push::Pusher;
pub(crate) use server::Server;
pub(crate) use site::{Site, lock};
pub(crate) use tls::Tls;
pub(crate) use watched::WatchedPage;

use crate::args::TlsArgs;
use crate::failure::Failure;

pub(crate) struct Protection {
    pub(crate) token: Option<Token>,
    pub(crate) tls: Option<Tls>,
}

pub(crate) fn protection(token: Option<&Token>, tls: &TlsArgs) -> Result<Protection, Failure> {
    Ok(Protection { token: self::token(token)?, tls: Tls::new(tls)? })
}

fn token(given: Option<&Token>) -> Result<Option<Token>, Failure> {
    match (given, std::env::var("PLIMSOLL_TOKEN")) {
        (Some(token), _) => Ok(Some(token.clone())),
        (None, Ok(text)) => match text.parse() {
            Ok(token) => Ok(Some(token)),
            Err(why) => Err(Failure::usage(format!("$PLIMSOLL_TOKEN: {why}"))),
        },
        (None, Err(_)) => Ok(None),
    }
}
