//! Whose a connection on loopback is: there, every user of this machine can reach a page that has
//! no token.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The tables of the kernel are longer on hosts with many connections; what stands behind so many
/// bytes is not looked at.
const MOST_BYTES: u64 = 64 << 20;

/// Whether `peer`, who is connected to `own`, is this process's user, or root. False where the
/// kernel does not say whose the connection is: from another machine, or from another network
/// namespace.
pub(crate) fn is_own_user(peer: SocketAddr, own: SocketAddr) -> bool {
    let uid = rustix::process::getuid().as_raw();
    let owner = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .find_map(|table| owner_in(&read(table), peer, own));
    owner.is_some_and(|owner| owner == uid || owner == 0)
}

fn read(path: &str) -> String {
    use std::io::Read;
    let mut text = String::new();
    // A table that cannot be read has nobody in it.
    let _ =
        std::fs::File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text));
    text
}

/// The user of the socket whose end is `peer` and whose other end is `own`, in a table such as
/// /proc/net/tcp (proc(5)).
fn owner_in(table: &str, peer: SocketAddr, own: SocketAddr) -> Option<u32> {
    table.lines().skip(1).find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (here, there) = (address(words.next()?)?, address(words.next()?)?);
        // Behind the state, the queues, the timer and the retransmissions.
        let uid = words.nth(4)?;
        (same(here, peer) && same(there, own)).then(|| uid.parse().ok()).flatten()
    })
}

/// An IPv4 address may stand in the table of IPv6.
fn same(one: SocketAddr, other: SocketAddr) -> bool {
    one.ip().to_canonical() == other.ip().to_canonical() && one.port() == other.port()
}

/// `0100007F:1F90`: words of 32 bits as they stand in memory, and the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let mut bytes = [0u8; 16];
    let words = ip.len() / 8;
    if !ip.is_ascii() || ip.len() % 8 != 0 || !matches!(words, 1 | 4) {
        return None;
    }
    for (number, place) in bytes.chunks_exact_mut(4).take(words).enumerate() {
        let word = u32::from_str_radix(&ip[number * 8..number * 8 + 8], 16).ok()?;
        place.copy_from_slice(&word.to_ne_bytes());
    }
    let ip = match words {
        1 => IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3])),
        _ => IpAddr::V6(Ipv6Addr::from(bytes)),
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_of_this_process_is_its_users() {
        for at in ["127.0.0.1:0", "[::1]:0"] {
            // A machine may have no IPv6.
            let Ok(listener) = TcpListener::bind(at) else { continue };
            let own = listener.local_addr().expect("an address");
            let client = TcpStream::connect(own).expect("a connection");
            let (_, peer) = listener.accept().expect("it came");
            assert!(is_own_user(peer, own), "{at}");
            assert!(!is_own_user(own, SocketAddr::new(own.ip(), 1)), "nobody is there");
            drop(client);
        }
    }

    #[test]
    fn the_owner_stands_behind_both_ends() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when \
             retrnsmt   uid  \
             timeout inode\n0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 \
             00000000     0        0 1 1 0 100 0 0 10 0\n1: 0100007F:C350 0100007F:1F90 01 \
             00000000:00000000 00:00000000 00000000  1007        0 2 1 0 20 4 30 10 -1\nx: junk\n";
        let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
        assert_eq!(owner_in(table, at(50_000), at(8_080)), Some(1007));
        assert_eq!(owner_in(table, at(50_000), at(8_081)), None);
        assert_eq!(owner_in("", at(1), at(2)), None);
        for junk in ["", ":", "0100007F", "é100007F:1F90", "0100007F:10000", "0100007F0:1"] {
            assert_eq!(address(junk), None, "{junk}");
        }
    }
}
