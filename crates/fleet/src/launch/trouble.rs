//! What kept an agent from being started, and whether trying again can help. Pure.
//!
//! Launchers are other people's programs: all that they tell of a failure is what they write.

use std::time::Duration;

/// So often a host is tried at most whose way was too busy.
const MOST_TRIES: u32 = 10;
/// The first pause of a way that was too busy; each further one is twice as long.
const BUSY_PAUSE: Duration = Duration::from_millis(250);
/// The first pause of a host that is not there; each further one is twice as long.
const AWAY_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// A kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The way to the host had no room for one more connection; the next moment it may.
    Busy,
    /// The host is not there, or says nothing; perhaps it will.
    Away,
    /// It is refused: a key, a password, the host's identity, the program. Trying again would only
    /// fill a log, or lock somebody out.
    Refused,
}

/// What servers and launchers write that refuse somebody for good.
const REFUSED: [&str; 14] = [
    "permission denied",
    "host key verification failed",
    "remote host identification has changed",
    "too many authentication failures",
    "no supported authentication methods",
    "no matching host key type",
    "no matching key exchange method",
    "no matching cipher",
    "name or service not known",
    "no address associated with hostname",
    "nodename nor servname provided",
    "forbidden",
    "unauthorized",
    "invalid node name specified",
];

/// What they write where there are too many at once: sshd before its banner (MaxStartups,
/// sshd_config(5)), Slurm's controller, the API server of Kubernetes.
const BUSY: [&str; 13] = [
    "kex_exchange_identification",
    "ssh_exchange_identification",
    "banner exchange",
    "exceeded maxstartups",
    "connection reset",
    "broken pipe",
    "session open refused by peer",
    "resource temporarily unavailable",
    "socket timed out on send/recv operation",
    "unable to create step",
    "too many requests",
    "tls handshake timeout",
    "error dialing backend",
];

impl Trouble {
    /// What the words of a launcher, or of a host, mean. Who is refused is, whatever else is said.
    pub(super) fn of(words: &str) -> Trouble {
        let words = words.to_lowercase();
        let has = |list: &[&str]| list.iter().any(|word| words.contains(word));
        // A port that is closed lies on the way to a busy server, too: it is away.
        let is_closed = has(&["connection refused", "no route to host", "connection timed out"]);
        match () {
            () if has(&REFUSED) => Trouble::Refused,
            () if has(&BUSY) && !is_closed => Trouble::Busy,
            () => Trouble::Away,
        }
    }

    /// How long to wait before another try; `None` where there is none. `tries` were in vain,
    /// `spent` since the first began, and hosts that are away are tried for so long. `chance` is
    /// from 0 to 1: those that were refused together do not come back together.
    pub(super) fn pause(
        self,
        tries: u32,
        spent: Duration,
        within: Duration,
        chance: f64,
    ) -> Option<Duration> {
        let after = |first: Duration| {
            let doubled = first.saturating_mul(1 << tries.saturating_sub(1).min(16));
            doubled.min(LONGEST_PAUSE).mul_f64(0.5 + 0.5 * chance.clamp(0.0, 1.0))
        };
        match self {
            Trouble::Busy if tries < MOST_TRIES => Some(after(BUSY_PAUSE)),
            Trouble::Busy | Trouble::Away => {
                Some(after(AWAY_PAUSE)).filter(|pause| spent.saturating_add(*pause) < within)
            }
            Trouble::Refused => None,
        }
    }
}

/// The longest time that a host takes whose way is busy each time, the tries themselves left out.
pub(super) fn longest_busy() -> Duration {
    (1..MOST_TRIES)
        .filter_map(|tries| Trouble::Busy.pause(tries, Duration::ZERO, Duration::ZERO, 1.0))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_openssh_writes_is_told_apart() {
        let busy = [
            "kex_exchange_identification: Connection closed by remote host; Connection closed by \
             198.19.1.1 port 22",
            "kex_exchange_identification: read: Connection reset by peer",
            "Connection closed by UNKNOWN port 65535; banner exchange: Connection to UNKNOWN port \
             65535: Broken pipe",
            "mux_client_request_session: session request failed: Session open refused by peer",
        ];
        let away = [
            "ssh: connect to host n1 port 22: No route to host",
            "ssh: connect to host n1 port 22: Connection refused; kex_exchange_identification: \
             Connection closed by remote host",
            "ssh: connect to host n1 port 22: Connection timed out",
            "no answer within 60 s",
            "it ended without a word",
        ];
        let refused = [
            "root@n1: Permission denied (publickey).",
            // By a jump host: what its client says follows from it.
            "root@b: Permission denied (publickey).; kex_exchange_identification: Connection \
             closed by remote host; Connection closed by UNKNOWN port 65535",
            "Host key verification failed.",
            "ssh: Could not resolve hostname n9: Name or service not known",
        ];
        for (all, trouble) in
            [(&busy[..], Trouble::Busy), (&away, Trouble::Away), (&refused, Trouble::Refused)]
        {
            for words in all {
                assert_eq!(Trouble::of(words), trouble, "{words}");
            }
        }
    }

    #[test]
    fn who_is_refused_is_never_tried_again_and_who_is_away_within_a_time() {
        let hour = Duration::from_secs(3600);
        let pause = |trouble: Trouble, tries, spent_s, within_s| {
            let (spent, within) = (Duration::from_secs(spent_s), Duration::from_secs(within_s));
            trouble.pause(tries, spent, within, 1.0)
        };
        assert_eq!(Trouble::Refused.pause(1, Duration::ZERO, hour, 0.0), None);
        assert_eq!(pause(Trouble::Away, 1, 0, 0), None, "one try where no time is given");
        assert_eq!(pause(Trouble::Away, 1, 0, 5), Some(AWAY_PAUSE));
        assert_eq!(pause(Trouble::Away, 3, 0, 5), Some(AWAY_PAUSE * 4));
        assert_eq!(pause(Trouble::Away, 3, 2, 5), None);
        assert_eq!(pause(Trouble::Away, 30, 2, 3600), Some(LONGEST_PAUSE));
        assert_eq!(pause(Trouble::Busy, 1, 60, 0), Some(BUSY_PAUSE), "also without a time");
        assert_eq!(pause(Trouble::Busy, MOST_TRIES, 60, 0), None);
        let half = Trouble::Busy.pause(1, Duration::ZERO, Duration::ZERO, 0.0);
        assert_eq!(half, Some(BUSY_PAUSE / 2));
        assert!(longest_busy() < Duration::from_secs(70), "{:?}", longest_busy());
    }
}
