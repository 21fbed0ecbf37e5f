//! A header of RPM: tags with values, in one region that a checksum covers.

use std::collections::BTreeMap;

/// A value of a tag.
#[derive(Clone, Debug)]
pub enum Value {
    /// Numbers of 16 bits.
    Shorts(Vec<u16>),
    /// Numbers of 32 bits.
    Numbers(Vec<u32>),
    /// A text.
    Text(String),
    /// Several.
    Texts(Vec<String>),
    /// A text in the one language that we have.
    Translated(String),
}

impl Value {
    /// RPM's number of the type, how many values there are, their alignment and bytes.
    fn stored(&self) -> (u32, usize, usize, Vec<u8>) {
        let ended = |text: &String| [text.as_bytes(), &[0]].concat();
        match self {
            Value::Shorts(all) => {
                (3, all.len(), 2, all.iter().flat_map(|one| one.to_be_bytes()).collect())
            }
            Value::Numbers(all) => {
                (4, all.len(), 4, all.iter().flat_map(|one| one.to_be_bytes()).collect())
            }
            Value::Text(text) => (6, 1, 1, ended(text)),
            Value::Texts(all) => (8, all.len(), 1, all.iter().flat_map(ended).collect()),
            Value::Translated(text) => (9, 1, 1, ended(text)),
        }
    }
}

/// Tags with their values, in the order of the tags.
#[derive(Clone, Debug, Default)]
pub struct Header(BTreeMap<u32, Value>);

const BINARY: u32 = 7;
const ENTRY_BYTES: usize = 16;

impl Header {
    /// Gives `tag` this value.
    pub fn put(&mut self, tag: u32, value: Value) {
        self.0.insert(tag, value);
    }

    /// The header in a region that is named by this tag.
    pub fn bytes(&self, region: u32) -> Vec<u8> {
        let (mut index, mut store) = (Vec::new(), Vec::new());
        for (tag, value) in &self.0 {
            let (kind, count, alignment, bytes) = value.stored();
            store.resize(store.len().next_multiple_of(alignment), 0);
            index.extend(entry([*tag, kind, store.len() as u32, count as u32]));
            store.extend(bytes);
        }
        let entries = self.0.len() + 1;
        let of_region = entry([region, BINARY, store.len() as u32, ENTRY_BYTES as u32]);
        // Its last entry says how far back the region begins.
        let back = (entries * ENTRY_BYTES) as u32;
        store.extend(entry([region, BINARY, back.wrapping_neg(), ENTRY_BYTES as u32]));
        let mut bytes = vec![0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0];
        bytes.extend((entries as u32).to_be_bytes());
        bytes.extend((store.len() as u32).to_be_bytes());
        [bytes, of_region, index, store].concat()
    }
}

fn entry(numbers: [u32; 4]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_aligned_and_the_region_spans_all_entries() {
        let mut header = Header::default();
        header.put(1000, Value::Text("ab".to_owned()));
        header.put(1001, Value::Numbers(vec![7]));
        let bytes = header.bytes(63);
        assert_eq!(bytes[8..16], [0, 0, 0, 3, 0, 0, 0, 24], "three entries, 24 bytes");
        assert_eq!(bytes[64..72], [b'a', b'b', 0, 0, 0, 0, 0, 7]);
        assert_eq!(bytes[80..84], (-48_i32).to_be_bytes());
    }
}
