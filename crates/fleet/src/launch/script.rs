//! What a host's shell is asked to do. POSIX shell only; everything that is put in is quoted.

use std::path::Path;

/// What an agent's first line begins with. What a login shell prints before it is skipped.
pub(super) const GREETING: &str = "plimsoll-agent";
/// What a host says that has no agent of this version yet.
const MISSING: &str = "plimsoll-missing";
/// What a host says that has taken the binary, or removed it.
const STORED: &str = "plimsoll-stored";
/// What a host says that starts nothing, and stores nothing, for a reason that somebody there can
/// mend.
const REFUSED: &str = "plimsoll-refused";
/// The version of the messages. Agents and coordinators with different ones do not understand each
/// other.
const PROTOCOL: u32 = 13;

/// The first line of an agent's standard output.
pub fn greeting(version: &str, hash: &str) -> String {
    format!("{GREETING} {PROTOCOL} {version} {hash} {}", std::env::consts::ARCH)
}

/// What is said instead by whoever is to find an agent that holds out, and finds none.
pub fn not_held() -> String {
    format!("{REFUSED} not-held")
}

/// What a host answered to being asked for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The agent of this version and binary is there and listens.
    Agent { protocol: u32, version: String, hash: String },
    /// No binary is there, or none that may be started; what the host is, as `uname` says it.
    Missing { system: String },
    /// The binary was taken, or removed.
    Stored,
    /// The host must not or cannot start the binary.
    Refused(Refusal),
}

/// Why a host starts nothing, or stores nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Neither `XDG_CACHE_HOME` nor `HOME` names a folder: there is none that is this user's alone.
    Homeless,
    /// The cache folder is somebody else's, others can write to it, or it is no folder.
    Folder { path: String },
    /// Nothing there can compute a SHA-256.
    Unhashed,
    /// What `--agent` names is not there.
    Absent,
    /// No agent of this user holds out there under the name that was asked for.
    NotHeld,
    /// The program was started to see whether it can be, and ended with this exit status of its
    /// shell.
    Unstartable { status: u32 },
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
            [STORED] => Some(Answer::Stored),
            [REFUSED, reason @ ..] => Refusal::of(reason).map(Answer::Refused),
            _ => None,
        }
    }

    /// Whether an agent speaks our protocol.
    pub(super) fn speaks(protocol: u32) -> bool {
        protocol == PROTOCOL
    }
}

impl Refusal {
    fn of(words: &[&str]) -> Option<Refusal> {
        match words {
            ["homeless"] => Some(Refusal::Homeless),
            ["folder", path @ ..] => Some(Refusal::Folder { path: path.join(" ") }),
            ["unhashed"] => Some(Refusal::Unhashed),
            ["absent"] => Some(Refusal::Absent),
            ["not-held"] => Some(Refusal::NotHeld),
            ["unstartable", status] => Some(Refusal::Unstartable { status: status.parse().ok()? }),
            _ => None,
        }
    }

    /// In words, with a remedy. `said` is what the host wrote to its standard error; it may be
    /// empty.
    pub(super) fn words(&self, said: &str) -> String {
        let said = if said.is_empty() { String::new() } else { format!(" ({said})") };
        match self {
            Refusal::Homeless => "HOME and XDG_CACHE_HOME name no folder there, so the program \
                                  has no private place; set HOME there, or name a copy with \
                                  --agent PATH"
                .to_owned(),
            Refusal::Folder { path } => format!(
                "the cache folder {path} is not this user's alone there, so nothing in it is \
                 started; give it to this user with mode 700, or set XDG_CACHE_HOME there"
            ),
            Refusal::Unhashed => "sha256sum, shasum and openssl are all missing there, so the \
                                  program cannot be checked; install one of them, or name a copy \
                                  with --agent PATH"
                .to_owned(),
            Refusal::Absent => {
                "the file of --agent is not there; check the path on that host".to_owned()
            }
            Refusal::NotHeld => "no agent of the run holds out there any more; go on with \
                                 `plimsoll resume`"
                .to_owned(),
            Refusal::Unstartable { status: NOT_EXECUTABLE } => format!(
                "the program may not be executed there{said}; set XDG_CACHE_HOME there to a \
                 folder of a file system without noexec, or name a copy with --agent PATH"
            ),
            Refusal::Unstartable { status } => format!(
                "the program cannot start there: exit status {status}{said}; a dynamic loader or \
                 a library is missing. Build a static program with `cargo xtask dist`, and start \
                 that one"
            ),
        }
    }
}

/// What a shell ends with whose program is there and may not be executed.
const NOT_EXECUTABLE: u32 = 126;

/// What all scripts begin with. `c` is where this user's caches are: there is no other place that
/// nobody else can write to, and a program that somebody else put there would run with this user's
/// rights.
///
/// `own X` holds where X belongs to this user and nobody else may write to it; `sum X` puts its
/// SHA-256 into `s`, by openssl where it is there: it has the processor's instructions for it, and
/// takes a sixth of the time.
fn beginning() -> String {
    format!(
        "umask 077; refuse() {{ echo \"{REFUSED} $*\"; exit 0; }}; own() {{ set -- $(ls -ldn \
         \"$1\"); [ \"$3\" = \"$(id -u)\" ] || return 1; case \"$1\" in ?????w*|????????w*) \
         return 1;; esac; }}; sum() {{ s=$(openssl dgst -sha256 -r < \"$1\" 2>/dev/null || \
         sha256sum < \"$1\" 2>/dev/null || shasum -a 256 < \"$1\" 2>/dev/null) || refuse \
         unhashed; s=\"${{s%% *}}\"; }}; c=\"${{XDG_CACHE_HOME:-}}\"; case \"$c\" in /*) ;; *) \
         case \"${{HOME:-}}\" in /*) c=\"${{HOME%/}}/.cache\";; *) refuse homeless;; esac;; esac; \
         d=\"$c/plimsoll\"; "
    )
}

/// Goes into the cache folder and stays there: what was looked at is what is used, even if its path
/// leads elsewhere by now.
const ENTER: &str = "cd -P \"$d\" 2>/dev/null && own . || refuse folder \"$d\"; ";

/// Removes programs of ours from the cache that nobody has started for a month, and copies that
/// never became whole. Each start of one is noted in its time. Nothing depends on it.
const PRUNE: &str = "find . ! -name . -prune -type f -name 'plimsoll-????????????????' -mtime +30 \
                     -exec rm -f {} + 2>/dev/null || :; find . ! -name . -prune -type f -name \
                     'part-*' -mtime +1 -exec rm -f {} + 2>/dev/null || :; ";

/// Starts the agent from the cache, or says why not, or what the host is. Nothing is executed
/// before the owner and the mode of the folder and of the file are known, and the file's whole
/// hash.
pub(super) fn start(hash: &str, arguments: &[String]) -> String {
    let (name, arguments) = (cached_name(hash), quoted(arguments));
    format!(
        "{}missing() {{ echo \"{MISSING} $(uname -s) $(uname -m)\"; exit 0; }}; [ -e \"$d\" ] || \
         [ -L \"$d\" ] || missing; {ENTER}n='./{name}'; {{ [ -f \"$n\" ] && [ ! -L \"$n\" ] && [ \
         -x \"$n\" ] && own \"$n\"; }} || missing; sum \"$n\"; [ \"$s\" = '{hash}' ] || missing; \
         touch -c \"$n\" 2>/dev/null || :; {}exec \"$n\" {arguments}",
        beginning(),
        probed("\"$n\"")
    )
}

/// Starts the agent from where its user says that it is.
pub(super) fn start_at(path: &Path, arguments: &[String]) -> String {
    let (path, arguments) = (quote(&path.to_string_lossy()), quoted(arguments));
    format!(
        "refuse() {{ echo \"{REFUSED} $*\"; exit 0; }}; command -v {path} >/dev/null || [ -e \
         {path} ] || refuse absent; {}exec {path} {arguments}",
        probed(&path)
    )
}

/// Says so where `program` cannot be started: behind `exec`, nobody could.
fn probed(program: &str) -> String {
    format!("{program} --version >/dev/null </dev/null || refuse unstartable $?; ")
}

/// Takes the binary from standard input into the cache, whole or not at all. `part` is the name
/// that it has until it is whole: no other copy may have it, from whichever host or container, for
/// several may share the folder.
pub(super) fn store(hash: &str, part: &str) -> String {
    let (name, part) = (cached_name(hash), quote(part));
    format!(
        "set -e; {}mkdir -p \"$d\"; {ENTER}t={part}; trap 'rm -f \"$t\"' EXIT; trap 'exit 1' HUP \
         INT TERM; set -C; cat > \"$t\"; set +C; chmod 700 \"$t\"; sum \"$t\"; [ \"$s\" = \
         '{hash}' ] || {{ echo 'what arrived is not what was sent' >&2; exit 1; }}; [ ! -d \
         '{name}' ] || {{ echo \"$d/{name} is a folder; remove it\" >&2; exit 1; }}; mv -f \"$t\" \
         '{name}'; {PRUNE}echo {STORED}",
        beginning()
    )
}

/// Removes every binary of ours from the cache.
pub(super) fn forget() -> String {
    format!(
        "{}[ -e \"$d\" ] || {{ echo {STORED}; exit 0; }}; {ENTER}rm -f ./plimsoll-* ./part-*; cd \
         /; rmdir \"$d\" 2>/dev/null; echo {STORED}",
        beginning()
    )
}

/// A name for a copy that is not whole yet: whose it is to become, and a number that nobody else
/// has.
pub(super) fn part_name(host: &str, random: u128) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || ".-_".contains(*c);
    let host: String = host.chars().filter(is_plain).take(64).collect();
    format!("part-{host}-{random:032x}")
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
        assert_eq!(
            told,
            Answer::Agent { protocol: PROTOCOL, version: "1.2.3".into(), hash: "abc".into() }
        );
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
            let out = Command::new("sh")
                .args(["-c", &format!("printf %s {}", quote(word))])
                .output()
                .expect("a shell");
            assert_eq!(String::from_utf8(out.stdout).expect("UTF-8"), word);
        }
    }

    /// A host with a folder for its caches.
    struct Host(tempfile::TempDir);

    impl Host {
        fn new() -> Host {
            Host(tempfile::tempdir().expect("a folder"))
        }

        /// Its answer, and what it wrote to its standard error.
        fn says(&self, script: &str, input: &[u8]) -> (String, String) {
            self.says_with(&[("XDG_CACHE_HOME", self.0.path().to_str())], script, input)
        }

        /// The same with these variables; those without a value are not set.
        fn says_with(
            &self,
            settings: &[(&str, Option<&str>)],
            script: &str,
            input: &[u8],
        ) -> (String, String) {
            use std::io::Write;
            use std::process::Stdio;
            let mut command = Command::new("sh");
            command.args(["-c", script]).current_dir("/");
            for (name, value) in settings {
                match value {
                    Some(value) => command.env(name, value),
                    None => command.env_remove(name),
                };
            }
            let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = pipes.spawn().expect("a shell");
            // A host that refuses reads nothing.
            let _ = child.stdin.take().expect("piped").write_all(input);
            let out = child.wait_with_output().expect("ended");
            let text = |bytes| String::from_utf8(bytes).expect("UTF-8").trim().to_owned();
            (text(out.stdout), text(out.stderr))
        }

        fn folder(&self) -> std::path::PathBuf {
            self.0.path().join("plimsoll")
        }
    }

    #[test]
    fn programs_that_nobody_started_for_a_month_go_and_nothing_else_does() {
        let (host, hash) = (Host::new(), hashed(PROGRAM.as_bytes()));
        assert_eq!(host.says(&store(&hash, "part-a-1"), PROGRAM.as_bytes()).0, STORED);
        let (old, used) = ("plimsoll-0123456789abcdef", "plimsoll-fedcba9876543210");
        for name in [old, used, "plimsoll-notes", "part-b-2", "part-c-3", "mine"] {
            std::fs::write(host.folder().join(name), "x").expect("room");
        }
        let age = |name: &str, days: u64| {
            let file = std::fs::File::options().write(true).open(host.folder().join(name));
            let then = std::time::SystemTime::now() - std::time::Duration::from_secs(days * 86_400);
            file.and_then(|file| file.set_modified(then)).expect("ours");
        };
        for name in [old, "plimsoll-notes", "part-b-2", "mine", &cached_name(&hash)] {
            age(name, 40);
        }
        age(used, 20);
        // It is started once more: then it is in use.
        assert_eq!(host.says(&start(&hash, &["a".to_owned()]), b"").0, "ran a");
        let other = "#!/bin/sh\necho other\n";
        let other_hash = hashed(other.as_bytes());
        assert_eq!(host.says(&store(&other_hash, "part-a-4"), other.as_bytes()).0, STORED);
        let mut left: Vec<String> = std::fs::read_dir(host.folder())
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        let (own, newer) = (cached_name(&hash), cached_name(&other_hash));
        let mut expected = ["mine", "part-c-3", &own, &newer, used, "plimsoll-notes"];
        expected.sort_unstable();
        assert_eq!(left, expected);
    }

    /// A program with the hash that a host is told.
    fn hashed(program: &[u8]) -> String {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), program).expect("room");
        super::super::binary::hash(file.path()).expect("readable")
    }

    fn mode(path: &Path, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("ours");
    }

    const PROGRAM: &str = "#!/bin/sh\necho \"ran $1 $2\"\n";
    const MISSES: &str = "plimsoll-missing Linux";

    #[test]
    fn a_binary_is_stored_whole_started_and_forgotten() {
        let (host, hash) = (Host::new(), hashed(PROGRAM.as_bytes()));
        let ask = start(&hash, &["agent".to_owned(), "it's".to_owned()]);
        assert!(host.says(&ask, b"").0.starts_with(MISSES));
        let (answer, said) = host.says(&store(&hash, "part-a-1"), &PROGRAM.as_bytes()[..9]);
        assert_eq!((answer.as_str(), said.as_str()), ("", "what arrived is not what was sent"));
        assert_eq!(
            std::fs::read_dir(host.folder()).expect("made").count(),
            0,
            "half a copy leaves nothing"
        );
        assert_eq!(host.says(&store(&hash, "part-a-2"), PROGRAM.as_bytes()).0, STORED);
        assert_eq!(host.says(&ask, b"").0, "ran agent it's");
        assert_eq!(host.says(&forget(), b"").0, STORED);
        assert!(!host.folder().exists());
        assert_eq!(host.says(&forget(), b"").0, STORED, "nothing is there to be forgotten");
    }

    #[test]
    fn nothing_is_started_that_others_could_have_put_there() {
        let (host, hash) = (Host::new(), hashed(PROGRAM.as_bytes()));
        let (ask, put) = (start(&hash, &[]), store(&hash, "part-a-1"));
        assert_eq!(host.says(&put, PROGRAM.as_bytes()).0, STORED);
        let copy = host.folder().join(cached_name(&hash));
        // What is not the program, of the same length, and what others can write to: each is
        // replaced.
        std::fs::write(&copy, vec![0; PROGRAM.len()]).expect("room");
        assert!(host.says(&ask, b"").0.starts_with(MISSES), "a zeroed copy");
        std::fs::write(&copy, PROGRAM).expect("room");
        for (bits, can_start) in [(0o770, false), (0o702, false), (0o755, true)] {
            mode(&copy, bits);
            assert_eq!(host.says(&ask, b"").0.starts_with("ran"), can_start, "{bits:o}");
        }
        std::fs::rename(&copy, host.0.path().join("elsewhere")).expect("ours");
        std::os::unix::fs::symlink("../elsewhere", &copy).expect("room");
        assert!(host.says(&ask, b"").0.starts_with(MISSES), "a link leads out of the folder");
        // A folder that others can write to is not used at all.
        for bits in [0o770, 0o707] {
            mode(&host.folder(), bits);
            let refusal = format!("{REFUSED} folder {}", host.folder().display());
            for script in [&ask, &put, &forget()] {
                assert_eq!(host.says(script, PROGRAM.as_bytes()).0, refusal, "{bits:o}");
            }
        }
        assert!(copy.symlink_metadata().is_ok(), "nothing was removed from it");
    }

    #[test]
    fn a_user_without_a_home_has_no_place_for_a_program() {
        let host = Host::new();
        let hash = hashed(PROGRAM.as_bytes());
        for home in [None, Some(""), Some("relative")] {
            let settings = [("XDG_CACHE_HOME", home), ("HOME", home)];
            for script in [start(&hash, &[]), store(&hash, "part-a-1"), forget()] {
                let (answer, _) = host.says_with(&settings, &script, PROGRAM.as_bytes());
                assert_eq!(answer, "plimsoll-refused homeless", "{home:?}");
            }
        }
        assert_eq!(
            Answer::of("plimsoll-refused homeless"),
            Some(Answer::Refused(Refusal::Homeless))
        );
        let home = host.0.path().to_str();
        let (answer, _) = host.says_with(
            &[("XDG_CACHE_HOME", Some("relative")), ("HOME", home)],
            &store(&hash, "part-a-1"),
            PROGRAM.as_bytes(),
        );
        assert_eq!(answer, STORED);
        assert!(host.0.path().join(".cache/plimsoll").join(cached_name(&hash)).exists());
    }

    #[test]
    fn copies_that_come_at_the_same_time_do_not_meet() {
        let names: Vec<String> = (0..64).map(|number| part_name("n1", number)).collect();
        assert_eq!(names[0], "part-n1-00000000000000000000000000000000");
        assert_eq!(
            part_name("root@n1/../x\u{1b}", 1),
            "part-rootn1..x-00000000000000000000000000000001"
        );
        let (host, program) = (Host::new(), vec![b'x'; 1 << 20]);
        let hash = hashed(&program);
        std::thread::scope(|scope| {
            let stored: Vec<_> = names
                .iter()
                .take(8)
                .map(|name| scope.spawn(|| host.says(&store(&hash, name), &program)))
                .collect();
            for one in stored {
                assert_eq!(one.join().expect("no panic"), (STORED.to_owned(), String::new()));
            }
        });
        assert_eq!(std::fs::read_dir(host.folder()).expect("made").count(), 1, "no part stays");
        // A part that is there already is another's.
        std::fs::write(host.folder().join(&names[9]), "half").expect("room");
        assert_eq!(host.says(&store(&hash, &names[9]), &program).0, "");
    }

    /// This very test program, without a dynamic loader that would be there.
    fn without_loader() -> Vec<u8> {
        let mut program = std::fs::read("/proc/self/exe").expect("readable");
        let loader = b"/ld-linux";
        let at = program
            .windows(loader.len())
            .position(|bytes| bytes == loader)
            .expect("a dynamic program");
        program[at..at + loader.len()].copy_from_slice(b"/no-linux");
        program
    }

    #[test]
    fn a_program_that_cannot_start_is_told_as_one() {
        let (host, program) = (Host::new(), without_loader());
        let hash = hashed(&program);
        assert_eq!(host.says(&store(&hash, "part-a-1"), &program).0, STORED);
        let (answer, said) = host.says(&start(&hash, &[]), b"");
        assert_eq!(answer, "plimsoll-refused unstartable 127");
        let Some(Answer::Refused(refusal)) = Answer::of(&answer) else { panic!("{answer}") };
        let words = refusal.words(&said);
        assert!(words.contains("dynamic loader") && words.contains("cargo xtask dist"), "{words}");
        let copy = host.folder().join(cached_name(&hash));
        assert_eq!(host.says(&start_at(&copy, &[]), b"").0, "plimsoll-refused unstartable 127");
        assert_eq!(
            host.says(&start_at(Path::new("/no/such"), &[]), b"").0,
            "plimsoll-refused absent"
        );
        mode(&copy, 0o600);
        assert_eq!(host.says(&start_at(&copy, &[]), b"").0, "plimsoll-refused unstartable 126");
        assert!(Refusal::Unstartable { status: 126 }.words("").contains("noexec"));
    }
}
