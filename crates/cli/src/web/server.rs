//! The server: bounded in connections, in what it reads and in how long it waits, and apart from
//! the run in a thread of its own.

use super::access::{self, COOKIE_NAME, Token, Verdict};
use super::site::{self, Answer, Site};
use super::tls::{Caller, Tls};
use super::{Protection, peer, stream};
use crate::failure::Failure;
use crate::marks;
use fleet::Marker;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use live::web::Guard;
use live::web::metrics::{Form, Scrape};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::AbortHandle;

/// Connections at one time; more wait in the kernel's queue.
const MOST_CONNECTIONS: usize = 128;
/// Readers of streams at one time: each costs a drawing of the page a second.
const MOST_STREAMS: usize = 32;
/// What a request may say before its body; hyper allows no less than this.
const MOST_HEAD_BYTES: usize = 16 << 10;
const MOST_HEADERS: usize = 64;
const MOST_FORM_BYTES: usize = 4 << 10;
/// How long a request's head may take.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long readers have to hear of the end.
const FAREWELL: Duration = Duration::from_secs(2);

/// Everything may come from the server itself, and nothing from inside a page or from elsewhere.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src \
                      'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

type Body = BoxBody<Bytes, Infallible>;

/// A server that runs.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    is_guarded: bool,
    is_secure: bool,
    over: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    site: Site,
    address: SocketAddr,
    token: Option<Token>,
    tls: Option<Tls>,
    marker: Option<Marker>,
    boot: String,
    streams: Arc<Semaphore>,
    scrapes: Semaphore,
    /// Who is connected and has asked nothing yet.
    silent: Mutex<Silent>,
    over: watch::Receiver<bool>,
}

impl Server {
    /// Serves `site` at `address`; port 0 is any free one.
    pub(crate) fn start(
        address: SocketAddr,
        protection: Protection,
        site: Site,
        marker: Option<Marker>,
    ) -> Result<Server, Failure> {
        let Protection { token, tls } = protection;
        access::may_serve(address, token.as_ref()).map_err(Failure::usage)?;
        let refused = |error: std::io::Error| {
            let remedy = match error.kind() {
                std::io::ErrorKind::AddrInUse => {
                    "another program (another run?) has this port; name another one, or port 0 for \
                     any free one"
                }
                std::io::ErrorKind::PermissionDenied => {
                    "ports below 1024 are root's; name a higher one"
                }
                _ => "name an address of this machine",
            };
            Failure::usage(format!("--serve {address}: {error}; {remedy}"))
        };
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(refused)?;
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let (over, told) = watch::channel(false);
        let (is_guarded, is_secure) = (token.is_some(), tls.is_some());
        let boot = format!("{}-{}", std::process::id(), fleet::unix_ns());
        let (streams, scrapes) = (Arc::new(Semaphore::new(MOST_STREAMS)), Semaphore::new(1));
        let silent = Mutex::default();
        let shared = Shared {
            site,
            address,
            token,
            tls,
            marker,
            boot,
            streams,
            scrapes,
            silent,
            over: told,
        };
        let thread = std::thread::Builder::new()
            .name("web".to_owned())
            .spawn(move || runtime.block_on(serve(listener, Arc::new(shared))))
            .map_err(refused)?;
        Ok(Server { address, is_guarded, is_secure, over, thread: Some(thread) })
    }

    pub(crate) fn line(&self, what: &str) -> String {
        let guard = if self.is_guarded { " (add ?token=TOKEN)" } else { "" };
        let scheme = if self.is_secure { "https" } else { "http" };
        format!("{what} {scheme}://{}/{guard}", self.address)
    }

    /// Tells every reader that nothing more comes, and ends.
    pub(crate) fn finish(mut self) {
        let _ = self.over.send(true);
        if let Some(thread) = self.thread.take() {
            // A view that panicked was reported when it did.
            let _ = thread.join();
        }
    }
}

/// Connections that have asked nothing yet, the oldest first.
#[derive(Default)]
struct Silent {
    next: u64,
    waiting: BTreeMap<u64, AbortHandle>,
}

impl Shared {
    fn silent(&self) -> MutexGuard<'_, Silent> {
        // Nobody panics while holding it.
        self.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Silent {
    /// Gives up the oldest: who asks is not to wait for those who do not.
    fn give_up_oldest(&mut self) {
        if let Some((_, oldest)) = self.waiting.pop_first() {
            oldest.abort();
        }
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut over = shared.over.clone();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = over.wait_for(|over| *over) => break,
        };
        let Ok((stream, peer)) = accepted else {
            // Out of open files, most likely: it gets better when somebody leaves.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        if connections.available_permits() == 0 {
            shared.silent().give_up_oldest();
        }
        let permit = tokio::select! {
            permit = Arc::clone(&connections).acquire_owned() => permit,
            _ = over.wait_for(|over| *over) => break,
        };
        let Ok(permit) = permit else { break };
        let caller = Arc::clone(&shared);
        let mut silent = shared.silent();
        let number = silent.next;
        silent.next += 1;
        // It cannot run before it is listed: both happen on this thread.
        let task = tokio::spawn(async move {
            let _permit = permit;
            greet(stream, Arc::clone(&caller), peer, number).await;
            caller.silent().waiting.remove(&number);
        });
        silent.waiting.insert(number, task.abort_handle());
    }
    drop(listener);
    // Streams say farewell by themselves; who does not listen is not waited for.
    let streams = u32::try_from(MOST_STREAMS).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(FAREWELL, shared.streams.acquire_many(streams)).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// Hears what somebody asks who is connected, in the clear or by TLS.
async fn greet(stream: TcpStream, shared: Arc<Shared>, peer: SocketAddr, number: u64) {
    let caller = Peer { address: peer, number };
    let Some(tls) = &shared.tls else { return speak(stream, shared, caller, false).await };
    // Who is slow to begin holds a connection no longer than who is slow to ask.
    match tokio::time::timeout(HEAD_TIME, tls.greet(stream)).await.ok().flatten() {
        Some(Caller::Secure(stream)) => speak(stream, shared, caller, false).await,
        Some(Caller::Plain(stream)) => speak(stream, shared, caller, true).await,
        None => {}
    }
}

#[derive(Clone, Copy)]
struct Peer {
    address: SocketAddr,
    number: u64,
}

/// Answers requests on a connection; `is_mistaken` says that it should have been TLS.
async fn speak<S>(stream: S, shared: Arc<Shared>, peer: Peer, is_mistaken: bool)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let handle = hyper::service::service_fn(move |request| {
        let shared = Arc::clone(&shared);
        shared.silent().waiting.remove(&peer.number);
        async move {
            Ok::<_, Infallible>(match is_mistaken {
                true => refusal(
                    StatusCode::BAD_REQUEST,
                    "This server speaks TLS: ask https:// instead of http://.\n",
                ),
                false => respond(&shared, request, peer.address).await,
            })
        }
    });
    // A connection that ends badly is its reader's matter.
    let _ = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(MOST_HEAD_BYTES)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(stream), handle)
        .await;
}

async fn respond(
    shared: &Arc<Shared>,
    request: Request<Incoming>,
    peer: SocketAddr,
) -> Response<Body> {
    let mut response = match access::judge(shared.token.as_ref(), request.uri(), request.headers())
    {
        Verdict::Misled => refusal(
            StatusCode::MISDIRECTED_REQUEST,
            "This server answers to its address and to localhost only; use one of them.\n",
        ),
        Verdict::Refused => {
            let words = "This run is protected: open /?token=TOKEN, or send the header \
                         Authorization: Bearer TOKEN.\n";
            let mut response = refusal(StatusCode::UNAUTHORIZED, words);
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            response
        }
        Verdict::Hand => hand(shared, &request),
        Verdict::Welcome if request.method() == Method::POST && request.uri().path() == "/mark" => {
            mark(shared, request, peer).await
        }
        // Who watches over servers asks with HEAD; the answer's body is left out below us.
        Verdict::Welcome if ![Method::GET, Method::HEAD].contains(request.method()) => {
            let words = "Pages can be looked at, and a run that goes on be marked; nothing else: \
                         use GET.\n";
            let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED, words);
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            response
        }
        Verdict::Welcome => welcome(shared, &request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Sets the mark that a form asks for and sends the browser back to the page.
async fn mark(shared: &Shared, request: Request<Incoming>, peer: SocketAddr) -> Response<Body> {
    let Some(marker) = &shared.marker else {
        return refusal(StatusCode::NOT_FOUND, "There is no run here that goes on.\n");
    };
    let came = Instant::now();
    if !access::is_own_page(shared.token.is_some(), request.headers()) {
        return refusal(
            StatusCode::FORBIDDEN,
            "A page of another server sent this; set marks from the run's own page.\n",
        );
    }
    // With a token, whoever has it may; without, the page is for the user of this process, and
    // other users of this machine can reach it, too.
    if shared.token.is_none() && !peer::is_own_user(peer, shared.address) {
        return refusal(
            StatusCode::FORBIDDEN,
            "Another user runs this; use `plimsoll mark` as that user, or serve the page with \
             --token.\n",
        );
    }
    let body = http_body_util::Limited::new(request.into_body(), MOST_FORM_BYTES).collect();
    let Ok(Ok(body)) = tokio::time::timeout(HEAD_TIME, body).await else {
        return refusal(
            StatusCode::PAYLOAD_TOO_LARGE,
            "A mark is a form of at most 4 KiB with a field label.\n",
        );
    };
    let form = String::from_utf8_lossy(&body.to_bytes()).into_owned();
    let label = site::values(&form, "label").next().unwrap_or_default();
    match marks::check(&label) {
        Err(_) => refusal(
            StatusCode::BAD_REQUEST,
            "A mark needs a text of 1 to 200 bytes: say what happened.\n",
        ),
        Ok(()) if !marker.mark(&label, came.elapsed()) => {
            refusal(StatusCode::CONFLICT, "The run is over.\n")
        }
        Ok(()) => {
            let mut response = refusal(StatusCode::SEE_OTHER, "");
            response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/"));
            response
        }
    }
}

/// Gives the cookie and sends the browser to the same place without the token in its address.
fn hand(shared: &Shared, request: &Request<Incoming>) -> Response<Body> {
    let place =
        access::without_token(request.uri().path(), request.uri().query().unwrap_or_default());
    let token = shared.token.as_ref().map(Token::as_str).unwrap_or_default();
    // One that came by TLS never goes without.
    let secure = if shared.tls.is_some() { "; Secure" } else { "" };
    let cookie = format!("{COOKIE_NAME}={token}; HttpOnly; SameSite=Strict; Path=/{secure}");
    let mut response = refusal(StatusCode::SEE_OTHER, "");
    for (name, value) in [(header::LOCATION, place), (header::SET_COOKIE, cookie)] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

async fn welcome(shared: &Arc<Shared>, request: &Request<Incoming>) -> Response<Body> {
    let (path, query) = (request.uri().path(), request.uri().query().unwrap_or_default());
    // Several such headers are one, their values in turn (RFC 9110, 5.3).
    let accept =
        request.headers().get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let accept = accept.collect::<Vec<_>>().join(",");
    let guard = match (&shared.token, &shared.tls) {
        (None, _) => Guard::Loopback,
        (Some(_), None) => Guard::Token,
        (Some(_), Some(_)) => Guard::EncryptedToken,
    };
    match site::answer(&shared.site, path, query, &accept, &shared.boot, guard) {
        Answer::Text(status, kind, text) => reply(status, kind, Full::from(text).boxed()),
        Answer::Metrics(form, scrape) => scraped(shared, form, scrape).await,
        Answer::Stream(view) => {
            let Site::Live(board) = &shared.site else { return refusal(StatusCode::NOT_FOUND, "") };
            let Ok(permit) = Arc::clone(&shared.streams).try_acquire_owned() else {
                let words = "Too many readers at once; close a page and load this one again.\n";
                return refusal(StatusCode::SERVICE_UNAVAILABLE, words);
            };
            let (out, lines) = mpsc::channel(4);
            let told = stream::tell(
                Arc::clone(board),
                view,
                shared.boot.clone(),
                out,
                shared.over.clone(),
            );
            tokio::spawn(async move {
                told.await;
                drop(permit);
            });
            reply(StatusCode::OK, "text/event-stream", Lines(lines).boxed())
        }
    }
}

/// Writes metrics on a thread of their own: those of a thousand hosts take a second, in which pages
/// are to be answered. One after the other, because each may be a hundred MiB.
async fn scraped(shared: &Shared, form: Form, scrape: Box<Scrape>) -> Response<Body> {
    let Ok(_permit) = shared.scrapes.acquire().await else {
        return refusal(StatusCode::SERVICE_UNAVAILABLE, "");
    };
    match tokio::task::spawn_blocking(move || scrape.render(form)).await {
        Ok(bytes) => reply(StatusCode::OK, form.content_type(), Full::from(bytes).boxed()),
        Err(_) => refusal(
            StatusCode::INTERNAL_SERVER_ERROR,
            "The metrics could not be written; this is a fault of Plimsoll.\n",
        ),
    }
}

fn refusal(status: StatusCode, words: &'static str) -> Response<Body> {
    reply(status, "text/plain; charset=utf-8", Full::from(words).boxed())
}

fn reply(status: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

struct Lines(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Lines {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_those_who_ask_nothing_is_given_up() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let mut silent = Silent::default();
            let tasks: Vec<_> =
                (0..2).map(|_| tokio::spawn(std::future::pending::<()>())).collect();
            for (number, task) in (0..).zip(&tasks) {
                silent.waiting.insert(number, task.abort_handle());
            }
            silent.give_up_oldest();
            let [oldest, newer] = <[_; 2]>::try_from(tasks).expect("two");
            assert!(oldest.await.expect_err("it waits for ever").is_cancelled());
            assert!(!newer.is_finished() && silent.waiting.len() == 1);
            silent.give_up_oldest();
            silent.give_up_oldest();
        });
    }
}
