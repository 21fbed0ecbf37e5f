//! What a program's file says of itself, in the format of 64-bit Linux programs (ELF).

/// What a guest needs to know of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The loader that starts it; `None` where it needs none.
    pub loader: Option<String>,
    /// Behind so many bytes of the file come only names for debuggers.
    pub loaded_bytes: usize,
}

/// The kinds of segments that matter here.
const LOAD: u32 = 1;
const LOADER: u32 = 3;

impl Program {
    /// Reads the head of a program; `None` if it is none for 64-bit Linux with little-endian
    /// numbers, or is damaged.
    pub fn read(file: &[u8]) -> Option<Program> {
        // Magic, 64 bits, little-endian.
        if file.get(..6)? != b"\x7fELF\x02\x01" {
            return None;
        }
        let (table, each) = (number(file, 32, 8)?, number(file, 54, 2)?);
        let count = number(file, 56, 2)?;
        let (mut loader, mut loaded_bytes) = (None, table.checked_add(each.checked_mul(count)?)?);
        for index in 0..count {
            let at = table.checked_add(index.checked_mul(each)?)?;
            let kind = u32::try_from(number(file, at, 4)?).ok()?;
            let (offset, length) = (number(file, at + 8, 8)?, number(file, at + 32, 8)?);
            let end = offset.checked_add(length)?;
            match kind {
                LOAD => loaded_bytes = loaded_bytes.max(end),
                LOADER => {
                    let bytes = file.get(offset..end)?;
                    let text = std::str::from_utf8(bytes).ok()?.trim_end_matches('\0');
                    loader = Some(text.to_owned());
                }
                _ => {}
            }
        }
        (loaded_bytes <= file.len()).then_some(Program { loader, loaded_bytes })
    }

    /// The program without what only debuggers read.
    pub fn without_names(&self, file: &[u8]) -> Vec<u8> {
        let mut kept = file[..self.loaded_bytes].to_vec();
        // Where the table of sections is, and how many there are: none is left.
        for field in [40..48, 60..64] {
            kept[field].fill(0);
        }
        kept
    }
}

/// A little-endian number of so many bytes.
fn number(file: &[u8], at: usize, bytes: usize) -> Option<usize> {
    let field = file.get(at..at.checked_add(bytes)?)?;
    let value = field.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
    usize::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_program_without_its_names_still_runs() {
        let file = std::fs::read("/bin/sh").expect("a shell");
        let program = Program::read(&file).expect("a program");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sh");
        std::fs::copy("/bin/sh", &path).expect("copied, with its mode");
        std::fs::write(&path, program.without_names(&file)).expect("written");
        let said = Command::new(&path).args(["-c", "echo $((6 * 7))"]).output().expect("started");
        assert_eq!(String::from_utf8_lossy(&said.stdout), "42\n");
    }

    #[test]
    fn what_is_no_program_is_refused_and_never_read_past_its_end() {
        assert_eq!(Program::read(b"#!/bin/sh\n"), None);
        let file = std::fs::read("/proc/self/exe").expect("ourselves");
        let head = &file[..4096.min(file.len())];
        for cut in (0..head.len()).step_by(7) {
            let _ = Program::read(&head[..cut]);
        }
        let mut wrong = head.to_vec();
        wrong[32..40].fill(0xff);
        assert_eq!(Program::read(&wrong), None);
    }
}
