//! CRC-32C (Castagnoli, RFC 3720 B.4), the checksum that storage itself uses, by tables. Where a
//! processor has an instruction for it, the engine takes that.

/// The polynomial 0x1EDC6F41 with its bits reversed.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// `TABLES[k][b]` is what byte `b` does to the checksum when `k` more bytes follow it ("slicing by
/// 8").
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ POLYNOMIAL } else { value >> 1 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut slice = 1;
    while slice < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[slice - 1][byte];
            tables[slice][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        slice += 1;
    }
    tables
}

/// A checksum that grows with its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Crc(u32);

impl Default for Crc {
    fn default() -> Crc {
        Crc::new()
    }
}

impl Crc {
    /// That of nothing.
    pub fn new() -> Crc {
        Crc(u32::MAX)
    }

    /// With eight more bytes, those of a word in little-endian order.
    #[inline]
    #[must_use]
    pub fn add_word(self, word: u64) -> Crc {
        let mixed = (word ^ u64::from(self.0)).to_le_bytes();
        Crc((0..8).fold(0, |sum, place| sum ^ TABLES[7 - place][usize::from(mixed[place])]))
    }

    /// With these bytes.
    #[must_use]
    pub fn with(mut self, bytes: &[u8]) -> Crc {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self = self.add_word(u64::from_le_bytes(*word));
        }
        for byte in rest {
            let index = (self.0 ^ u32::from(*byte)) & 0xff;
            self.0 = (self.0 >> 8) ^ TABLES[0][index as usize];
        }
        self
    }

    /// The checksum of all that was added.
    pub fn value(self) -> u32 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_the_published_examples() {
        let counting: Vec<u8> = (0..32).collect();
        for (bytes, expected) in [
            (&b"123456789"[..], 0xe306_9283),
            (&[0; 32], 0x8a91_36aa),
            (&[0xff; 32], 0x62a8_ab43),
            (&counting, 0x46dd_794e),
        ] {
            assert_eq!(Crc::new().with(bytes).value(), expected);
            let (first, second) = bytes.split_at(3);
            assert_eq!(Crc::new().with(first).with(second).value(), expected, "in pieces");
        }
    }
}
