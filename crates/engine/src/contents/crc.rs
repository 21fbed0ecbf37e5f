//! CRC-32C (Castagnoli, RFC 3720 B.4), the checksum that storage itself uses. With the processor's
//! instruction where there is one.

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

/// The CRC-32C of `words`, each taken as its eight bytes in little-endian order.
#[inline]
pub(crate) fn crc32c(words: impl Iterator<Item = u64>) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has the instruction.
        return unsafe { by_instruction(words) };
    }
    by_table(words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn by_instruction(words: impl Iterator<Item = u64>) -> u32 {
    let mut state = u64::from(u32::MAX);
    for word in words {
        state = std::arch::x86_64::_mm_crc32_u64(state, word);
    }
    !(state as u32)
}

fn by_table(words: impl Iterator<Item = u64>) -> u32 {
    let mut state = u32::MAX;
    for word in words {
        let bytes = (word ^ u64::from(state)).to_le_bytes();
        state = (0..8).fold(0, |sum, place| sum ^ TABLES[7 - place][usize::from(bytes[place])]);
    }
    !state
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3720, B.4: 32 bytes of zeros, of ones, and counting up.
    #[test]
    fn it_agrees_with_the_published_examples() {
        let counting = [
            0x0706_0504_0302_0100,
            0x0f0e_0d0c_0b0a_0908,
            0x1716_1514_1312_1110,
            0x1f1e_1d1c_1b1a_1918,
        ];
        for (words, expected) in
            [([0; 4], 0x8a91_36aa), ([u64::MAX; 4], 0x62a8_ab43), (counting, 0x46dd_794e)]
        {
            assert_eq!(by_table(words.into_iter()), expected);
            assert_eq!(crc32c(words.into_iter()), expected, "by the processor's instruction");
        }
    }
}
