//! Words for the shell of a node behind ssh: each is quoted, whatever is in it.

use crate::Problem;

/// Words as one line for a POSIX shell, in which none means anything else.
pub(crate) fn quoted(words: &[&str]) -> String {
    let quote = |word: &&str| format!("'{}'", word.replace('\'', r"'\''"));
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// The host of an address such as `ssh://root@pve1`, as ssh takes it.
///
/// # Errors
/// It is no such address.
pub(crate) fn ssh_host<'a>(connect: &'a str, example: &str) -> Result<&'a str, Problem> {
    let host = connect.strip_prefix("ssh://").unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@.-_:[]%".contains(c);
    match !host.is_empty() && !host.starts_with('-') && host.chars().all(is_plain) {
        true => Ok(host),
        false => Err(Problem::Unfit {
            what: format!("vms.connect (`{connect}`) does not say which node makes the machines"),
            remedy: format!("write one such as \"{example}\""),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_shell_gives_back_each_word_as_it_was() {
        let words = ["a b", "", "it's", "$(touch /x)`x`", "-n", "\"\\", "a\nb", "*", ";|&<>"];
        let script = format!("printf '%s\\0' {}", quoted(&words));
        let output = Command::new("sh").arg("-c").arg(script).output().expect("a shell");
        let back = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(back.split_terminator('\0').collect::<Vec<_>>(), words);
    }

    #[test]
    fn only_a_host_behind_ssh_is_one() {
        assert_eq!(ssh_host("ssh://root@pve1", "x"), Ok("root@pve1"));
        for bad in ["qemu:///system", "ssh://", "ssh://-oProxyCommand=x", "ssh://a b", "ssh://a;b"]
        {
            assert!(matches!(ssh_host(bad, "x"), Err(Problem::Unfit { .. })), "{bad}");
        }
    }
}
