//! The certificate of pages that are served.

use clap::Args;
use std::path::PathBuf;

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
