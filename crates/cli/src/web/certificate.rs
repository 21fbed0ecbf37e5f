//! Whether a certificate and a key can be shown to browsers: pure but for the reading of files.

use crate::files::plain_file;
use jiff::Timestamp;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::{ParsedCertificate, ServerConfig};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{CertificateError, Error, InconsistentKeys, RootCertStore};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// A larger file is no certificate and no key.
const MOST_BYTES: u64 = 1 << 20;
/// Certificates in a chain; browsers follow no longer one.
const MOST_CERTIFICATES: usize = 16;

pub(crate) struct Pair<'a> {
    pub(crate) cert: &'a [u8],
    pub(crate) cert_name: String,
    pub(crate) key: &'a [u8],
    pub(crate) key_name: String,
}

/// Reads a file that `option` names.
pub(crate) fn read(option: &str, path: &Path) -> Result<Vec<u8>, String> {
    let refused = |why: &dyn std::fmt::Display| {
        format!("{option} {}: {why}; name a PEM file that this user can read", path.display())
    };
    let mut bytes = Vec::new();
    let file = plain_file::open(path).map_err(|error| refused(&error))?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| refused(&error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(refused(&"it is larger than 1 MiB"));
    }
    Ok(bytes)
}

/// What a server needs to show the certificate at the time `now`.
pub(crate) fn config(pair: &Pair<'_>, now: UnixTime) -> Result<Arc<ServerConfig>, String> {
    let (chain, key) = (chain(pair)?, key(pair)?);
    let provider = Arc::new(ring::default_provider());
    // Its own dates are nothing that a server looks at; browsers do.
    holds_at(pair, &chain, now)?;
    let certified = CertifiedKey::from_der(chain, key, &provider).map_err(|error| match error {
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => format!(
            "{}: this key does not belong to the first certificate of {}; name the key that it \
             was issued for, and put the page's own certificate before those that signed it",
            pair.key_name, pair.cert_name
        ),
        Error::InvalidCertificate(error) => unreadable(pair, &error),
        error => format!(
            "{}: {error}; keys are RSA of 2048 to 8192 bits, ECDSA P-256 or P-384, or Ed25519",
            pair.key_name
        ),
    })?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("{}: {error}; this is a fault of Plimsoll", pair.cert_name))?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn chain(pair: &Pair<'_>) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> =
        CertificateDer::pem_slice_iter(pair.cert).take(MOST_CERTIFICATES + 1).collect();
    let why = match found {
        Ok(chain) if (1..=MOST_CERTIFICATES).contains(&chain.len()) => return Ok(chain),
        Ok(chain) if chain.is_empty() => "it holds no certificate".to_owned(),
        Ok(_) => format!("it holds more than {MOST_CERTIFICATES} certificates"),
        Err(error) => format!("this is no PEM file: {error}"),
    };
    Err(format!(
        "{}: {why}; name a file with -----BEGIN CERTIFICATE-----, the page's own first, then those \
         that signed it",
        pair.cert_name
    ))
}

fn key(pair: &Pair<'_>) -> Result<PrivateKeyDer<'static>, String> {
    let name = &pair.key_name;
    let is_locked = |what: &[u8]| pair.key.windows(what.len()).any(|window| window == what);
    if is_locked(b"BEGIN ENCRYPTED PRIVATE KEY") || is_locked(b"Proc-Type: 4,ENCRYPTED") {
        return Err(format!(
            "{name}: this key has a passphrase, which nobody types in here; take it off with \
             `openssl pkey -in FILE -out OTHER`"
        ));
    }
    PrivateKeyDer::from_pem_slice(pair.key).map_err(|error| {
        format!(
            "{name}: it holds no private key ({error}); name a file with -----BEGIN PRIVATE \
             KEY-----"
        )
    })
}

/// Refuses a certificate that browsers would. No more is looked at than its form and its dates: who
/// signed it is for those to judge who see it.
fn holds_at(pair: &Pair<'_>, chain: &[CertificateDer<'_>], now: UnixTime) -> Result<(), String> {
    let name = &pair.cert_name;
    let own = ParsedCertificate::try_from(&chain[0]).map_err(|error| unreadable(pair, &error))?;
    let known = ring::default_provider().signature_verification_algorithms.all;
    // Dates are looked at first, and then nobody is trusted.
    let judged = rustls::client::verify_server_cert_signed_by_trust_anchor(
        &own,
        &RootCertStore::empty(),
        &chain[1..],
        now,
        known,
    );
    match judged {
        Err(Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => {
            Err(format!("{name}: the certificate ended at {}; renew it", moment(not_after)))
        }
        Err(Error::InvalidCertificate(CertificateError::NotValidYetContext {
            not_before, ..
        })) => Err(format!(
            "{name}: the certificate begins at {}; wait until then, or set the clock of this \
             machine right",
            moment(not_before)
        )),
        _ => Ok(()),
    }
}

fn unreadable(pair: &Pair<'_>, error: &dyn std::fmt::Display) -> String {
    format!(
        "{}: its first certificate cannot be read: {error}; name one of X.509, version 3",
        pair.cert_name
    )
}

fn moment(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).ok();
    let known = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
    known.map_or_else(|| format!("{} s after 1970", time.as_secs()), |known| known.to_string())
}

/// Certificates and keys of tests; `fixtures/tls/README.md` says how they were made.
#[cfg(test)]
pub(crate) mod testing {
    /// A certificate of localhost from 2020 to 2120, and its key.
    pub(crate) const GOOD: [&str; 2] = [
        include_str!("../../../../fixtures/tls/cert.pem"),
        include_str!("../../../../fixtures/tls/key.pem"),
    ];
    pub(crate) const OTHER_KEY: &str = include_str!("../../../../fixtures/tls/other-key.pem");
}

#[cfg(test)]
mod tests {
    use super::testing::{GOOD, OTHER_KEY};
    use super::*;
    use std::time::Duration;

    /// 2026-11-23, in the time of the certificate.
    const NOW: u64 = 1_795_392_000;

    fn tried(cert: &str, key: &str, unix_s: u64) -> Result<Arc<ServerConfig>, String> {
        let pair = Pair {
            cert: cert.as_bytes(),
            cert_name: "--tls-cert c.pem".to_owned(),
            key: key.as_bytes(),
            key_name: "--tls-key k.pem".to_owned(),
        };
        config(&pair, UnixTime::since_unix_epoch(Duration::from_secs(unix_s)))
    }

    #[test]
    fn what_fits_and_holds_is_taken_with_its_chain() {
        let [cert, key] = GOOD;
        assert!(tried(cert, key, NOW).is_ok());
        assert!(tried(&format!("{cert}{cert}"), key, NOW).is_ok(), "a chain");
        assert!(tried(&format!("{key}{cert}"), &format!("{cert}{key}"), NOW).is_ok(), "one file");
    }

    #[test]
    fn what_browsers_would_refuse_is_refused_with_place_and_remedy() {
        let [cert, key] = GOOD;
        let many = cert.repeat(17);
        let cut = cert.replace("-----END CERTIFICATE-----", "");
        let damaged = cert.replacen("MII", "AII", 1);
        let locked = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE \
                      KEY-----\n";
        for (cert, key, now, place, words) in [
            (cert, OTHER_KEY, NOW, "--tls-key k.pem", "does not belong to the first certificate"),
            (cert, key, 4_733_510_401, "--tls-cert c.pem", "ended at 2120-01-01T00:00:00Z; renew"),
            (cert, key, 1_577_836_799, "--tls-cert c.pem", "begins at 2020-01-01T00:00:00Z; wait"),
            (key, key, NOW, "--tls-cert c.pem", "holds no certificate"),
            (cert, cert, NOW, "--tls-key k.pem", "holds no private key"),
            (cert, "", NOW, "--tls-key k.pem", "BEGIN PRIVATE KEY"),
            (cert, locked, NOW, "--tls-key k.pem", "passphrase"),
            (&many, key, NOW, "--tls-cert c.pem", "more than 16"),
            (&cut, key, NOW, "--tls-cert c.pem", "no PEM file"),
            (&damaged, key, NOW, "--tls-cert c.pem", "cannot be read"),
        ] {
            let refused = tried(cert, key, now).expect_err(words);
            assert!(refused.starts_with(place) && refused.contains(words), "{refused}");
        }
    }

    #[test]
    fn what_is_no_readable_file_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let large = folder.path().join("large");
        let made = std::fs::File::create(&large).and_then(|file| file.set_len(MOST_BYTES + 1));
        made.expect("a file");
        for (path, words) in [
            (folder.path().join("none"), "No such file"),
            (folder.path().to_owned(), "no regular file"),
            ("/dev/zero".into(), "no regular file"),
            (large, "larger than 1 MiB"),
        ] {
            let refused = read("--tls-key", &path).expect_err(words);
            assert!(refused.contains(words) && refused.contains("name a PEM file"), "{refused}");
        }
    }
}
