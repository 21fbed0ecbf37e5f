//! `plimsoll serve`: past runs in a browser.

use super::saved::read_judged;
use crate::args::{ServeArgs, TlsArgs};
use crate::failure::Failure;
use crate::signals;
use crate::web::{self, Server, Site, Tls};
use model::Record;
use std::sync::Arc;

/// Serves the reports of run files until somebody stops it.
pub(crate) fn serve(args: &ServeArgs) -> Result<(), Failure> {
    let tls = TlsArgs { tls_cert: args.tls_cert.clone(), tls_key: args.tls_key.clone() };
    Tls::check(&tls)?;
    let name = |run: &std::path::Path| {
        run.file_name().unwrap_or(run.as_os_str()).to_string_lossy().into_owned()
    };
    let runs = args
        .runs
        .iter()
        .map(|run| Ok((name(run), read_judged(run)?)))
        .collect::<Result<Vec<(String, Record)>, Failure>>()?;
    let server = Server::start(
        args.address,
        web::protection(args.token.as_ref(), &tls)?,
        Site::Past(Arc::new(runs)),
        None,
    )?;
    eprintln!("{}\nCtrl-C ends it", server.line("runs     "));
    signals::wait();
    server.finish();
    Ok(())
}
