//! CRC-32C (Castagnoli, RFC 3720 B.4), the checksum that storage itself uses. With the processor's
//! instruction where there is one.

use model::crc::Crc;

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
    words.fold(Crc::new(), Crc::add_word).value()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3720, B.4: 32 bytes of zeros, of ones, and counting up.
    #[test]
    fn it_agrees_with_the_published_examples() {
        let counting = [
            0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908, 0x1716_1514_1312_1110,
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
