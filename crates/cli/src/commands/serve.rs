//! `plimsoll serve`: past runs in a browser.

use super::saved::read;
use crate::args::ServeArgs;
use crate::failure::Failure;
use crate::signals;
use crate::web::{self, Server, Site};
use model::Record;
use std::process::ExitCode;
use std::sync::Arc;

/// Serves the reports of run files until somebody stops it.
pub fn serve(args: &ServeArgs) -> Result<ExitCode, Failure> {
    let name = |run: &std::path::Path| {
        run.file_name().unwrap_or(run.as_os_str()).to_string_lossy().into_owned()
    };
    let runs = args
        .runs
        .iter()
        .map(|run| Ok((name(run), read(run)?)))
        .collect::<Result<Vec<(String, Record)>, Failure>>()?;
    let server = Server::start(
        args.address,
        web::token(args.token.as_ref())?,
        Site::Past(Arc::new(runs)),
        None,
    )?;
    eprintln!("{}\nCtrl-C ends it", server.line("runs     "));
    signals::wait();
    server.finish();
    Ok(ExitCode::SUCCESS)
}
