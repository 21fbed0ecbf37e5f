//! The least of an HTTP client: tests look at what really stands on the wire.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its head, as it came.
    pub head: String,
    /// Its body.
    pub body: String,
}

/// Gets `path` from `address` (`127.0.0.1:9750`), with more lines in the request's head.
pub fn get(address: &str, path: &str, lines: &[&str]) -> Answer {
    let host = format!("Host: {address}");
    let more: String =
        lines.iter().chain([&host.as_str()]).map(|line| format!("{line}\r\n")).collect();
    send(address, &format!("GET {path} HTTP/1.1\r\n{more}Connection: close\r\n\r\n"))
}

/// Sends a request as it is.
pub fn send(address: &str, request: &str) -> Answer {
    let mut stream =
        TcpStream::connect(address).unwrap_or_else(|error| panic!("{address}: {error}"));
    stream.set_read_timeout(Some(Duration::from_secs(300))).expect("a time limit");
    // A server that refuses early does not read to the end.
    let _ = stream.write_all(request.as_bytes());
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    answer(&bytes)
}

/// Gets `path` from a server of `localhost` by TLS, with OpenSSL, which trusts `authority` alone.
pub fn get_by_tls(address: &str, authority: &Path, path: &str, lines: &[&str]) -> Answer {
    let mut client = Command::new("openssl")
        .args(["s_client", "-quiet", "-verify_return_error", "-verify_hostname", "localhost"])
        .args(["-servername", "localhost", "-connect", address, "-CAfile"])
        .arg(authority)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("OpenSSL");
    let more: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    let request =
        format!("GET {path} HTTP/1.1\r\n{more}Host: {address}\r\nConnection: close\r\n\r\n");
    let mut input = client.stdin.take().expect("its input");
    // One that does not trust the server ends before it reads.
    let _ = input.write_all(request.as_bytes());
    let ended = client.wait_with_output().expect("its end");
    drop(input);
    answer(&ended.stdout)
}

/// What came, in its parts; status 0 where nothing did.
fn answer(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// Reads what a program says until it says where it serves, and goes on reading so that it is never
/// held up.
pub fn address_of(child: &mut Child) -> String {
    let mut lines = BufReader::new(child.stderr.take().expect("its standard error")).lines();
    let mut said = String::new();
    let address = loop {
        let line = lines.next().unwrap_or_else(|| panic!("it ended: {said}")).expect("text");
        let found = line.split_once("http://").or_else(|| line.split_once("https://"));
        if let Some((_, rest)) = found {
            break rest.split('/').next().unwrap_or_default().to_owned();
        }
        said.push_str(&line);
        said.push('\n');
    };
    std::thread::spawn(move || lines.for_each(drop));
    address
}
