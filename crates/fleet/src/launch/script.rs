//! What a host's shell is asked to do. POSIX shell only; everything that is put in is quoted.

use std::path::Path;

/// What an agent's first line begins with. What a login shell prints before it is skipped.
pub(super) const GREETING: &str = "plimsoll-agent";
/// What a host says that has no agent of this version yet.
const MISSING: &str = "plimsoll-missing";
/// What a host says that has taken the binary.
pub(super) const STORED: &str = "plimsoll-stored";
/// The version of the messages. Agents and coordinators with different ones do not understand each other.
const PROTOCOL: u32 = 8;

/// Where hosts keep the binary.
const CACHE: &str = "${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/plimsoll";

/// The first line of an agent's standard output.
pub fn greeting(version: &str, hash: &str) -> String {
    format!("{GREETING} {PROTOCOL} {version} {hash} {}", std::env::consts::ARCH)
}

/// What a host answered to being asked for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The agent of this version and binary is there and listens.
    Agent { protocol: u32, version: String, hash: String },
    /// No binary is there; what the host is, as `uname` says it.
    Missing { system: String },
}

impl Answer {
    /// The answer in a line, if it is one.
    pub(super) fn of(line: &str) -> Option<Answer> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [GREETING, protocol, version, hash, _arch] => Some(Answer::Agent {
                protocol: protocol.parse().ok()?,
                version: (*version).to_owned(),
                hash: (*hash).to_owned(),
            }),
            [MISSING, system @ ..] => Some(Answer::Missing { system: system.join(" ") }),
            _ => None,
        }
    }

    /// Whether an agent speaks our protocol.
    pub(super) fn speaks(protocol: u32) -> bool {
        protocol == PROTOCOL
    }
}

/// Starts the agent from the cache, or says what the host is. A copy of another length is none: it could not even say that it is damaged.
pub(super) fn start(hash: &str, length: u64, arguments: &[String]) -> String {
    format!(
        "f=\"{CACHE}/{}\"; if [ -x \"$f\" ] && [ \"$(wc -c < \"$f\")\" -eq {length} ]; then exec \"$f\" {}; fi; echo \"{MISSING} $(uname -s) $(uname -m)\"",
        cached_name(hash),
        quoted(arguments)
    )
}

/// Starts the agent from where its user says that it is.
pub(super) fn start_at(path: &Path, arguments: &[String]) -> String {
    format!("exec {} {}", quote(&path.to_string_lossy()), quoted(arguments))
}

/// Takes the binary from standard input into the cache, whole or not at all.
pub(super) fn store(hash: &str) -> String {
    format!(
        "set -e; umask 077; d=\"{CACHE}\"; mkdir -p \"$d\"; t=\"$d/part-$$\"; trap 'rm -f \"$t\"' EXIT; cat > \"$t\"; chmod 700 \"$t\"; \
         mv \"$t\" \"$d/{}\"; echo {STORED}",
        cached_name(hash)
    )
}

/// Removes every binary of ours from the cache.
pub(super) fn forget() -> String {
    format!("d=\"{CACHE}\"; rm -f \"$d\"/plimsoll-* \"$d\"/part-*; rmdir \"$d\" 2>/dev/null; echo {STORED}")
}

fn cached_name(hash: &str) -> String {
    format!("plimsoll-{}", hash.get(..16).unwrap_or(hash))
}

/// Whether the binary for this machine runs on a host of that system, as `uname -s -m` names it.
pub(super) fn runs_here(system: &str) -> bool {
    let arch = match std::env::consts::ARCH {
        "x86" => "i686",
        other => other,
    };
    system == format!("Linux {arch}")
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// A word that a POSIX shell takes literally.
pub(super) fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_greeting_is_understood_and_noise_is_not() {
        let told = Answer::of(&greeting("1.2.3", "abc")).expect("a greeting");
        assert_eq!(told, Answer::Agent { protocol: PROTOCOL, version: "1.2.3".into(), hash: "abc".into() });
        assert_eq!(
            Answer::of("plimsoll-missing Linux x86_64"),
            Some(Answer::Missing { system: "Linux x86_64".into() })
        );
        assert_eq!(Answer::of("Welcome to node01"), None);
        assert_eq!(Answer::of("plimsoll-agent x 1 2 3"), None);
    }

    #[test]
    fn a_shell_takes_any_word_literally() {
        for word in ["plain", "it's", "$(touch x)", "a b\n\\", "'; rm -rf /; '"] {
            let out = Command::new("sh").args(["-c", &format!("printf %s {}", quote(word))]).output().expect("a shell");
            assert_eq!(String::from_utf8(out.stdout).expect("UTF-8"), word);
        }
    }

    #[test]
    fn a_binary_is_stored_whole_started_and_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let shell = |script: &str, input: &str| {
            use std::io::Write;
            let mut child = Command::new("sh")
                .args(["-c", script])
                .env("XDG_CACHE_HOME", folder.path())
                .stdin(std::process::Stdio::piped())
                .stdout(std::process::Stdio::piped())
                .spawn()
                .expect("a shell");
            child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("open");
            String::from_utf8(child.wait_with_output().expect("ended").stdout).expect("UTF-8")
        };
        let hash = "0123456789abcdef0123";
        let program = "#!/bin/sh\necho \"ran $1 $2\"\n";
        let ask = start(hash, program.len() as u64, &["agent".to_owned(), "it's".to_owned()]);
        assert!(shell(&ask, "").starts_with("plimsoll-missing Linux"));
        assert_eq!(shell(&store(hash), &program[..9]).trim(), STORED);
        assert!(shell(&ask, "").starts_with("plimsoll-missing Linux"), "half a copy is none");
        assert_eq!(shell(&store(hash), program).trim(), STORED);
        assert_eq!(shell(&ask, "").trim(), "ran agent it's");
        assert_eq!(shell(&forget(), "").trim(), STORED);
        assert!(!folder.path().join("plimsoll").exists());
    }
}
