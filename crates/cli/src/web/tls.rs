//! The certificate that pages are served with: read and tried before anything is touched, and read
//! again when its files change, so that what is served for months outlives a certificate.

use super::certificate::{self, Pair};
use crate::args::TlsArgs;
use crate::failure::Failure;
use rustls::ServerConfig;
use rustls::pki_types::UnixTime;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// How often a change of the files is looked for.
const LOOKS_EVERY: Duration = Duration::from_secs(60);
/// The first byte of whoever begins to speak TLS (RFC 8446, 5.1: a record of a handshake).
const HANDSHAKE: u8 = 22;

pub(crate) struct Tls {
    cert: PathBuf,
    key: PathBuf,
    shown: Mutex<Shown>,
}

struct Shown {
    config: Arc<ServerConfig>,
    stamps: [Option<Stamp>; 2],
    looked: Instant,
}

/// What changes with a file: inode, length, seconds and nanoseconds of its last change.
type Stamp = (u64, u64, i64, i64);

pub(crate) enum Caller {
    Secure(Box<TlsStream<TcpStream>>),
    Plain(TcpStream),
}

impl Tls {
    /// Reads the files; none where no certificate is asked for.
    pub(crate) fn new(args: &TlsArgs) -> Result<Option<Tls>, Failure> {
        let (Some(cert), Some(key)) = (&args.tls_cert, &args.tls_key) else { return Ok(None) };
        let stamps = [stamp(cert), stamp(key)];
        let config = load(cert, key).map_err(Failure::usage)?;
        let shown = Mutex::new(Shown { config, stamps, looked: Instant::now() });
        Ok(Some(Tls { cert: cert.clone(), key: key.clone(), shown }))
    }

    /// Refuses what [`Tls::new`] would, before anything else is begun.
    pub(crate) fn check(args: &TlsArgs) -> Result<(), Failure> {
        Tls::new(args).map(drop)
    }

    /// Hears how somebody begins; nothing where he ends, or speaks neither.
    pub(crate) async fn greet(&self, stream: TcpStream) -> Option<Caller> {
        let mut first = [0];
        if stream.peek(&mut first).await.ok()? == 0 {
            return None;
        }
        if first[0] != HANDSHAKE {
            return Some(Caller::Plain(stream));
        }
        let accepted = TlsAcceptor::from(self.config()).accept(stream).await.ok()?;
        Some(Caller::Secure(Box::new(accepted)))
    }

    /// What the next one is shown: the files' new content, where they changed and it is good.
    fn config(&self) -> Arc<ServerConfig> {
        // It is only ever replaced whole.
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.looked.elapsed() >= LOOKS_EVERY {
            shown.looked = Instant::now();
            self.look(&mut shown);
        }
        shown.config.clone()
    }

    fn look(&self, shown: &mut Shown) {
        let stamps = [stamp(&self.cert), stamp(&self.key)];
        if stamps == shown.stamps {
            return;
        }
        shown.stamps = stamps;
        match load(&self.cert, &self.key) {
            Ok(config) => shown.config = config,
            Err(why) => eprintln!("warning: {why}; the page keeps the certificate that it has"),
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let known = std::fs::metadata(path).ok()?;
    Some((known.ino(), known.size(), known.mtime(), known.mtime_nsec()))
}

fn load(cert: &Path, key: &Path) -> Result<Arc<ServerConfig>, String> {
    let pair = Pair {
        cert: &certificate::read("--tls-cert", cert)?,
        cert_name: format!("--tls-cert {}", cert.display()),
        key: &certificate::read("--tls-key", key)?,
        key_name: format!("--tls-key {}", key.display()),
    };
    certificate::config(&pair, UnixTime::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_change_are_read_again_and_bad_ones_change_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let (cert, key) = (folder.path().join("c.pem"), folder.path().join("k.pem"));
        let write = |pair: [&str; 2]| {
            std::fs::write(&cert, pair[0]).expect("a certificate");
            std::fs::write(&key, pair[1]).expect("a key");
        };
        write(certificate::testing::GOOD);
        let args = TlsArgs { tls_cert: Some(cert.clone()), tls_key: Some(key.clone()) };
        let tls = Tls::new(&args).expect("good files").expect("a certificate");
        let look = || {
            let mut shown = tls.shown.lock().expect("nobody panicked");
            let before = shown.config.clone();
            tls.look(&mut shown);
            !Arc::ptr_eq(&before, &shown.config)
        };
        assert!(!look(), "nothing changed");
        std::fs::write(&key, "no key any more").expect("a file");
        assert!(!look(), "what is no key is not taken");
        std::fs::remove_file(&key).expect("a file");
        assert!(!look(), "what is gone is not taken");
        write(certificate::testing::GOOD);
        assert!(look(), "good files are");
        assert!(Tls::new(&TlsArgs::default()).is_ok_and(|tls| tls.is_none()));
    }
}
