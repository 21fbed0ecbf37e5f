//! One push over HTTP/1.1.

use super::destination::Destination;
use super::trust::Trust;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// A receiver that takes longer is one that did not answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// What is read of an answer, in bytes.
const MOST_ANSWER_BYTES: usize = 64 << 10;
/// What is told of an answer, in characters.
const MOST_TOLD: usize = 200;

/// Why a push did not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The receiver will not take it, however often it comes.
    Refused(String),
    Failed(String),
}

/// What is sent, ready for the wire.
pub(crate) struct Sent<'a> {
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
    pub(crate) authorization: Option<&'a HeaderValue>,
    /// Whom the receiver has to be known by, where it is spoken to by TLS.
    pub(crate) trust: Option<&'a Trust>,
}

pub(crate) async fn send(to: &Destination, sent: Sent<'_>) -> Result<(), Trouble> {
    match tokio::time::timeout(PATIENCE, exchange(to, sent)).await {
        Ok(answer) => answer,
        Err(_) => Err(Trouble::Failed(format!("no answer within {} s", PATIENCE.as_secs()))),
    }
}

async fn exchange(to: &Destination, sent: Sent<'_>) -> Result<(), Trouble> {
    let failed = |error: &dyn std::fmt::Display| Trouble::Failed(error.to_string());
    let stream = TcpStream::connect(&to.authority).await.map_err(|error| failed(&error))?;
    match sent.trust {
        Some(trust) => {
            let greeted = trust.greet(to.host(), stream).await;
            // Its certificate may be renewed while the load goes on.
            ask(to, sent, greeted.map_err(Trouble::Failed)?).await
        }
        None => ask(to, sent, stream).await,
    }
}

async fn ask<S>(to: &Destination, sent: Sent<'_>, stream: S) -> Result<(), Trouble>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let failed = |error: &dyn std::fmt::Display| Trouble::Failed(error.to_string());
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|e| failed(&e))?;
    let request = request(to, sent).map_err(|error| Trouble::Refused(error.to_string()))?;
    let asked = async {
        let answer = sender.send_request(request).await.map_err(|error| failed(&error))?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), MOST_ANSWER_BYTES).collect().await;
        Ok((status, body.map(http_body_util::Collected::to_bytes).unwrap_or_default()))
    };
    // The connection is driven beside the question, and ends with its answer.
    let (status, body) = tokio::select! {
        answered = asked => answered?,
        Err(error) = connection => return Err(failed(&error)),
    };
    judged(status, &body)
}

fn request(to: &Destination, sent: Sent<'_>) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(&to.path)
        .header(header::HOST, &to.authority)
        .header(header::CONNECTION, "close")
        .header(header::USER_AGENT, concat!("plimsoll/", env!("CARGO_PKG_VERSION")));
    for [name, value] in live::push::HEADERS {
        request = request.header(name, value);
    }
    if let Some(value) = sent.authorization {
        request = request.header(header::AUTHORIZATION, value);
    }
    request.body(Full::from(sent.bytes))
}

/// What an answer means: the protocol has a sender try again after 429 and 5xx, and after
/// nothing else.
fn judged(status: StatusCode, body: &[u8]) -> Result<(), Trouble> {
    if status.is_success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(body);
    let first = text.lines().next().unwrap_or_default();
    let told: String = first.chars().filter(|c| !c.is_control()).take(MOST_TOLD).collect();
    let words = if told.is_empty() { status.to_string() } else { format!("{status}: {told}") };
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        Err(Trouble::Failed(words))
    } else {
        Err(Trouble::Refused(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_whether_to_try_again_and_steers_no_terminal() {
        assert_eq!(judged(StatusCode::NO_CONTENT, b""), Ok(()));
        let later = judged(StatusCode::TOO_MANY_REQUESTS, b"");
        assert_eq!(later, Err(Trouble::Failed("429 Too Many Requests".to_owned())));
        assert!(matches!(judged(StatusCode::BAD_GATEWAY, b"x"), Err(Trouble::Failed(_))));
        let hostile = judged(StatusCode::BAD_REQUEST, b"out of\x1b[2J order\nmore");
        assert_eq!(hostile, Err(Trouble::Refused("400 Bad Request: out of[2J order".to_owned())));
        assert!(matches!(judged(StatusCode::FOUND, &[0xff; 9_000]), Err(Trouble::Refused(words))
            if words.chars().count() < 300));
    }
}
