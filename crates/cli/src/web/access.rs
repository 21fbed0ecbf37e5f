//! Who may see the pages, decided from the request alone.

use hyper::header::{AUTHORIZATION, COOKIE, HOST};
use hyper::{HeaderMap, Uri};
use std::net::{IpAddr, SocketAddr};

/// The cookie that carries the token, so that it does not stand in addresses for long.
pub(crate) const COOKIE_NAME: &str = "plimsoll_token";
/// A token that is shorter can be guessed.
const LEAST_TOKEN: usize = 16;
const MOST_TOKEN: usize = 256;

/// The secret that opens the pages.
#[derive(Clone)]
pub(crate) struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    fn is(&self, other: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), other.as_bytes());
        // It always looks at every byte, so that its time tells nothing of where the first
        // difference is; the length is no secret.
        let differ = ours.iter().enumerate().fold(0, |differ, (place, byte)| {
            differ | (byte ^ theirs.get(place).copied().unwrap_or(0))
        });
        differ == 0 && ours.len() == theirs.len()
    }
}

impl std::str::FromStr for Token {
    type Err = String;

    fn from_str(text: &str) -> Result<Token, String> {
        let is_plain =
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if !is_plain || !(LEAST_TOKEN..=MOST_TOKEN).contains(&text.len()) {
            return Err(format!(
                "a token is {LEAST_TOKEN} to {MOST_TOKEN} letters, digits, '-', '_' and '.'; make \
                 one with `openssl rand -hex 16`"
            ));
        }
        Ok(Token(text.to_owned()))
    }
}

/// Reads where pages are to be served: an address and a port, `127.0.0.1:9750`.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let (host, port) = match text.rsplit_once(':') {
        Some(("" | "localhost", port)) => ("127.0.0.1", port),
        Some((host, port)) => (host, port),
        None if text.parse::<u16>().is_ok() => ("127.0.0.1", text),
        None => (text, "9750"),
    };
    let meant = format!("{host}:{port}")
        .parse::<SocketAddr>()
        .or_else(|_| format!("[{text}]:9750").parse());
    let example = meant.map_or_else(
        |_| "such as 127.0.0.1:9750 or [::1]:9750".to_owned(),
        |meant| format!("such as {meant}"),
    );
    Err(format!("an IP address and a port from 0 to 65535 are needed, {example}"))
}

/// Whether pages may be served at `address`: anywhere but on loopback only with a token.
pub(crate) fn may_serve(address: SocketAddr, token: Option<&Token>) -> Result<(), String> {
    match token {
        None if !address.ip().is_loopback() => Err(format!(
            "--serve {address}: other machines could see the run there; protect it with --token, \
             or serve on 127.0.0.1 and reach it through ssh -L"
        )),
        _ => Ok(()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Welcome,
    /// It brought the token in its address: it gets the cookie and comes again without.
    Hand,
    Refused,
    /// Its browser was led here under a foreign name: a page elsewhere wants to read ours.
    Misled,
}

pub(crate) fn judge(token: Option<&Token>, uri: &Uri, headers: &HeaderMap) -> Verdict {
    let Some(token) = token else {
        return if is_by_own_name(headers) { Verdict::Welcome } else { Verdict::Misled };
    };
    let text =
        |name| headers.get(name).and_then(|value: &hyper::header::HeaderValue| value.to_str().ok());
    let bearer = text(AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer ")).map(str::trim);
    let cookies = text(COOKIE).unwrap_or_default().split(';');
    let cookie = cookies
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE_NAME);
    if bearer.is_some_and(|told| token.is(told)) || cookie.is_some_and(|(_, told)| token.is(told)) {
        return Verdict::Welcome;
    }
    let query = uri.query().unwrap_or_default().split('&');
    let told = query.filter_map(|pair| pair.split_once('=')).find(|(name, _)| *name == "token");
    if told.is_some_and(|(_, told)| token.is(told)) { Verdict::Hand } else { Verdict::Refused }
}

/// The same place of this server without the token in its address. Never another server's: browsers
/// read a backslash as a slash, and two of them at the front as the name of a server (WHATWG, URL
/// Standard, "path state" and "special authority ignore slashes state").
pub(crate) fn without_token(path: &str, query: &str) -> String {
    let rest: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("token=")).collect();
    let rest = rest.join("&");
    let path = path.replace('\\', "/");
    let path = format!("/{}", path.trim_start_matches('/'));
    if rest.is_empty() { path } else { format!("{path}?{rest}") }
}

/// Whether what a browser sends comes from our own page, and not from one elsewhere that has it
/// send it. What is no browser says nothing of it.
///
/// `Sec-Fetch-Site` (W3C, Fetch Metadata) says so; where a browser leaves it out, `Origin` does, or
/// the cookie, which is not sent along from elsewhere.
pub(crate) fn is_own_page(is_guarded: bool, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(site) = text("sec-fetch-site") {
        return matches!(site, "same-origin" | "none");
    }
    match (text("origin"), text("host")) {
        (None, _) => true,
        (Some("null"), _) => is_guarded,
        (Some(origin), host) => origin.split_once("://").map(|(_, name)| name) == host,
    }
}

/// Without a token, only requests by an address or `localhost` are ours: any other name may be made
/// to point here by its owner, whose pages a browser would then let read ours.
fn is_by_own_name(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|value| value.to_str().ok()) else { return true };
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost" || name.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> Token {
        "0123456789abcdef".parse().expect("a token")
    }

    fn judged(
        token: Option<&Token>,
        uri: &str,
        header: Option<(hyper::header::HeaderName, &str)>,
    ) -> Verdict {
        let mut headers = HeaderMap::new();
        if let Some((name, value)) = header {
            headers.insert(name, value.parse().expect("a header"));
        }
        judge(token, &uri.parse().expect("an address"), &headers)
    }

    #[test]
    fn the_token_opens_in_three_ways_and_nothing_else_does() {
        let token = token();
        let judged = |uri, header| judged(Some(&token), uri, header);
        assert_eq!(judged("/", Some((AUTHORIZATION, "Bearer 0123456789abcdef"))), Verdict::Welcome);
        assert_eq!(
            judged("/", Some((COOKIE, "a=b; plimsoll_token=0123456789abcdef"))),
            Verdict::Welcome
        );
        assert_eq!(judged("/?host=1&token=0123456789abcdef", None), Verdict::Hand);
        for wrong in ["", "0123456789abcde", "0123456789abcdef0", "0123456789abcdeF", "\u{7f}"] {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert_eq!(judged("/?token=", None), Verdict::Refused);
        assert_eq!(judged("/", Some((AUTHORIZATION, "Basic 0123456789abcdef"))), Verdict::Refused);
        assert_eq!(judged("/", Some((COOKIE, "plimsoll_token"))), Verdict::Refused);
    }

    #[test]
    fn a_browser_is_led_to_no_other_server() {
        for path in ["//evil/", "/\\evil/", "\\/evil/", "/\\/\\evil/", "\\\\evil/", "///evil/"] {
            assert_eq!(without_token(path, "token=x"), "/evil/", "{path}");
        }
        assert_eq!(without_token("/run/1", "a=1&token=x&b=2"), "/run/1?a=1&b=2");
        assert_eq!(without_token("", ""), "/");
    }

    #[test]
    fn without_a_token_only_own_names_are_answered() {
        for own in ["127.0.0.1:80", "localhost:9", "[::1]:9464", "localhost"] {
            assert_eq!(judged(None, "/", Some((HOST, own))), Verdict::Welcome, "{own}");
        }
        for foreign in ["evil.example:80", "127.0.0.1.evil.example", "[x]", ""] {
            assert_eq!(judged(None, "/", Some((HOST, foreign))), Verdict::Misled, "{foreign}");
        }
    }

    #[test]
    fn only_our_own_page_and_what_is_no_browser_may_send() {
        let from = |pairs: &[(&'static str, &str)], is_guarded| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, value.parse().expect("a header"));
            }
            is_own_page(is_guarded, &headers)
        };
        let host = ("host", "127.0.0.1:9464");
        assert!(from(&[host], false));
        assert!(from(&[host, ("sec-fetch-site", "same-origin"), ("origin", "null")], false));
        assert!(from(&[host, ("origin", "http://127.0.0.1:9464")], false));
        assert!(from(&[host, ("origin", "null")], true));
        for bad in
            [("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site"), ("origin", "null")]
        {
            assert!(!from(&[host, bad], false), "{bad:?}");
        }
        for bad in ["http://evil.example", "http://127.0.0.1:80", "127.0.0.1:9464", "\u{e9}"] {
            assert!(!from(&[host, ("origin", bad)], true), "{bad}");
        }
    }

    #[test]
    fn what_is_no_address_is_told_as_one() {
        assert_eq!(listen_address("[::1]:0"), Ok("[::1]:0".parse().expect("an address")));
        for (wrong, right) in [
            ("9464", "127.0.0.1:9464"),
            (":9464", "127.0.0.1:9464"),
            ("localhost:9464", "127.0.0.1:9464"),
            ("10.0.0.5", "10.0.0.5:9750"),
            ("::1", "[::1]:9750"),
            ("127.0.0.1:99999", "127.0.0.1:9750"),
            ("node1:80", "127.0.0.1:9750"),
            ("", "127.0.0.1:9750"),
        ] {
            let told = listen_address(wrong).expect_err(wrong);
            assert!(told.contains(&format!("such as {right}")), "{wrong}: {told}");
        }
    }

    #[test]
    fn other_machines_need_a_token() {
        let anywhere: SocketAddr = "0.0.0.0:9464".parse().expect("an address");
        let here: SocketAddr = "[::1]:9464".parse().expect("an address");
        assert!(may_serve(anywhere, None).expect_err("refused").contains("--token"));
        assert_eq!((may_serve(anywhere, Some(&token())), may_serve(here, None)), (Ok(()), Ok(())));
        assert!(
            "short".parse::<Token>().is_err() && "0123456789abcdef; x".parse::<Token>().is_err()
        );
        assert!(!format!("{:?}", token()).contains("0123"));
    }
}
