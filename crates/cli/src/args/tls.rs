//! Pages that are served, and what is pushed beside them.

use super::DEFAULT_SERVE;
use crate::web::{Destination, Token, listen_address};
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Sharing")]
pub(crate) struct PageArgs {
    /// Serve a live page, and /metrics for Prometheus.
    ///
    /// Without a value, at 127.0.0.1:9750. Port 0 is any free port.
    #[arg(long, value_name = "IP:PORT", num_args = 0..=1, require_equals = true,
        default_missing_value = DEFAULT_SERVE, value_parser = listen_address)]
    pub(crate) serve: Option<SocketAddr>,

    /// Token that readers of the page need.
    ///
    /// Required where other machines could see the page. $PLIMSOLL_TOKEN does the same, and the
    /// list of processes does not show it.
    #[arg(long, value_name = "TOKEN", requires = "serve")]
    pub(crate) token: Option<Token>,

    #[command(flatten)]
    pub(crate) tls: TlsArgs,

    /// Push metrics to URL, by the remote write of Prometheus.
    ///
    /// Of each interval (a canary's: of each minute), with its own time.
    /// $PLIMSOLL_PUSH_AUTHORIZATION is the header Authorization.
    #[arg(long, value_name = "URL", hide_short_help = true)]
    pub(crate) push: Option<Destination>,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TlsArgs {
    /// Serve by TLS (https) with this certificate.
    ///
    /// A PEM file: the page's own certificate first, then those that signed it. It is read again
    /// when it changes.
    #[arg(long, value_name = "FILE", hide_short_help = true, requires_all = ["serve", "tls_key"])]
    pub(crate) tls_cert: Option<PathBuf>,

    /// The private key of --tls-cert, as PEM without a passphrase.
    #[arg(long, value_name = "FILE", hide_short_help = true, requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
}
