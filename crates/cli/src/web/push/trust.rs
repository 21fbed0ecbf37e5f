//! Which receivers are believed to be who they say, where metrics are pushed by TLS.

use super::super::certificate;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Names a file of authorities instead of the machine's own, as for OpenSSL.
const VARIABLE: &str = "SSL_CERT_FILE";
/// Where distributions keep the authorities that a machine trusts: Debian and Alpine, Fedora and
/// RHEL, SUSE, and others.
const PLACES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

pub(crate) struct Trust(TlsConnector);

impl Trust {
    /// Those of `$SSL_CERT_FILE`, or of this machine.
    pub(crate) fn of_machine() -> Result<Trust, String> {
        Trust::of(std::env::var_os(VARIABLE).as_deref())
    }

    fn of(named: Option<&OsStr>) -> Result<Trust, String> {
        let (what, bytes) = match named {
            Some(path) => {
                (format!("${VARIABLE}"), certificate::read("$SSL_CERT_FILE", Path::new(path))?)
            }
            None => {
                let place = PLACES.iter().find(|place| Path::new(place).is_file()).ok_or(format!(
                    "this machine has no file of certificate authorities; install ca-certificates, \
                     or name a PEM file in ${VARIABLE}"
                ))?;
                ((*place).to_owned(), certificate::read(place, Path::new(place))?)
            }
        };
        let found = CertificateDer::pem_slice_iter(&bytes).filter_map(Result::ok);
        let mut roots = RootCertStore::empty();
        // Every collection has some that nobody can read any more.
        let (known, _) = roots.add_parsable_certificates(found);
        if known == 0 {
            return Err(format!(
                "{what} holds no certificate; name a PEM file with those of authorities in \
                 ${VARIABLE}"
            ));
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("{error}; this is a fault of Plimsoll"))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Trust(TlsConnector::from(Arc::new(config))))
    }

    /// Speaks TLS on a connection with `host`: a name, or an address without brackets.
    pub(crate) async fn greet(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, String> {
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        self.0.connect(name, stream).await.map_err(|error| words(&error))
    }
}

/// What went wrong, and for a certificate that is not believed what to do.
fn words(error: &std::io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    match inner {
        Some(rustls::Error::InvalidCertificate(_)) => format!(
            "{error}; it has to be of this name, in its time, and signed by an authority of this \
             machine or of ${VARIABLE}"
        ),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_read_from_the_file_that_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("roots.pem");
        let tried = |text: &str| {
            std::fs::write(&file, text).expect("a file");
            Trust::of(Some(file.as_os_str())).map(drop)
        };
        let [cert, key] = certificate::testing::GOOD;
        assert_eq!(tried(cert), Ok(()));
        for nothing in ["", key, "junk"] {
            let refused = tried(nothing).expect_err("no certificate");
            assert!(refused.contains("$SSL_CERT_FILE holds no certificate"), "{refused}");
        }
        let gone = Trust::of(Some(OsStr::new("/no/such/file"))).map(drop).expect_err("no file");
        assert!(gone.contains("$SSL_CERT_FILE /no/such/file: No such file"), "{gone}");
    }
}
