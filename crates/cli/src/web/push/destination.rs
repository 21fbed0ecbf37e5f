//! Where metrics are pushed to, as it is typed.

use std::fmt;
use std::str::FromStr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Destination {
    /// Its name or address and port, as the header `Host` has them.
    pub(crate) authority: String,
    pub(crate) is_secure: bool,
    /// What it is asked for: path and query.
    pub(crate) path: String,
}

/// A longer one is none.
const MOST_BYTES: usize = 1024;
/// The end of the path of every receiver of OTLP
/// (<https://opentelemetry.io/docs/specs/otlp/#otlphttp-request>).
const OTLP_PATH: &str = "/v1/metrics";

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Destination, String> {
        let example = "write http://HOST:9090/api/v1/write";
        if text.len() > MOST_BYTES || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(format!("this is no address; {example}"));
        }
        let secure = text.strip_prefix("https://");
        let is_secure = secure.is_some();
        let rest = secure.or_else(|| text.strip_prefix("http://")).ok_or(example)?;
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        if authority.contains('@') {
            return Err("others see a password in the list of processes; put the header's value, \
                        such as \"Basic dXNlcjpwYXNz\", into $PLIMSOLL_PUSH_AUTHORIZATION"
                .to_owned());
        }
        let plain = path.split('?').next().unwrap_or_default().trim_end_matches('/');
        if !is_authority(authority) || plain.is_empty() || path.contains('#') {
            return Err(format!("it names no receiver; {example}"));
        }
        if plain.ends_with(OTLP_PATH) {
            return Err(format!("it takes OTLP, and Plimsoll pushes by remote write; {example}"));
        }
        let authority = with_port(authority, if is_secure { 443 } else { 80 });
        Ok(Destination { authority, is_secure, path: path.to_owned() })
    }
}

/// A name, an IPv4 address, or an IPv6 address in brackets; each may have a port behind it.
fn is_authority(text: &str) -> bool {
    let (name, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) if address.parse::<std::net::Ipv6Addr>().is_ok() => {
            (true, rest.strip_prefix(':').map_or(rest.is_empty().then_some("80"), Some))
        }
        Some(_) => (false, None),
        None => {
            let (name, port) = text.split_once(':').unwrap_or((text, "80"));
            let is_part = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
            (!name.is_empty() && name.chars().all(is_part), Some(port))
        }
    };
    name && port.is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

fn with_port(authority: &str, port: u16) -> String {
    let has_port = authority.rsplit(']').next().is_some_and(|end| end.contains(':'));
    if has_port { authority.to_owned() } else { format!("{authority}:{port}") }
}

impl Destination {
    /// Its name or address alone, without the brackets of IPv6.
    pub(crate) fn host(&self) -> &str {
        let host =
            self.authority.rsplit_once(':').map_or(self.authority.as_str(), |(host, _)| host);
        host.trim_start_matches('[').trim_end_matches(']')
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_secure { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_has_a_host_a_port_and_a_path() {
        for (text, authority, host) in [
            ("http://p:9090/api/v1/write", "p:9090", "p"),
            ("http://mimir/api/v1/push", "mimir:80", "mimir"),
            ("https://mimir/api/v1/push", "mimir:443", "mimir"),
            ("http://10.0.0.1:4318/write", "10.0.0.1:4318", "10.0.0.1"),
            ("http://[::1]:9090/api/v1/write?a=b", "[::1]:9090", "::1"),
            ("https://[fe80::1]/write/", "[fe80::1]:443", "fe80::1"),
        ] {
            let found: Destination = text.parse().expect(text);
            assert_eq!(found.authority, authority, "{text}");
            assert_eq!(
                (found.host(), found.is_secure),
                (host, text.starts_with("https")),
                "{text}"
            );
            assert!(found.to_string().starts_with(&text[..5]), "{found}");
        }
    }

    #[test]
    fn what_is_no_receiver_is_refused_with_a_remedy() {
        for (text, says) in [
            ("p:9090/api/v1/write", "write http://"),
            ("https://", "names no receiver"),
            ("ftp://p/api/v1/write", "write http://"),
            ("http://u:p@h/api/v1/write", "PLIMSOLL_PUSH_AUTHORIZATION"),
            ("http://h", "names no receiver"),
            ("http://h/", "names no receiver"),
            ("http://h:0/x", "names no receiver"),
            ("http://h:99999/x", "names no receiver"),
            ("http:///x", "names no receiver"),
            ("http://[::g]/x", "names no receiver"),
            ("http://[::1]9/x", "names no receiver"),
            ("http://h:4318/v1/metrics", "by remote write; write http://"),
            ("https://h/api/v1/otlp/v1/metrics/?a=b", "takes OTLP"),
            ("http://a b/x", "no address"),
            ("http://h/x\r\nHost: y", "no address"),
            (&format!("http://h/{}", "x".repeat(2_000)), "no address"),
        ] {
            let why = text.parse::<Destination>().expect_err(text);
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}
