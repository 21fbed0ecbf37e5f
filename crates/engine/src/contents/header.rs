//! The header of each 512 bytes that are to be checked: 40 bytes, little-endian, whatever the size
//! of the write.
//!
//! | bytes | |
//! |---|---|
//! | 0 | nonce |
//! | 4 | CRC-32C of all 512 bytes with these four as zeros |
//! | 8 | magic, generation |
//! | 16 | the run |
//! | 24 | sectors of the write (as many as 65,535), host, file |
//! | 32 | offset in the file |
//!
//! From byte 8 on the header is masked with random bytes that follow from the nonce: plain headers
//! are alike, and a compressor would find it.

use super::crc::crc32c;
use model::rng::split_mix;

/// The unit of checking: no device tears less than this.
pub(crate) const SECTOR: usize = 512;
/// Bytes of a header.
pub(crate) const HEADER: usize = 40;
const MAGIC: u32 = u32::from_le_bytes(*b"PLIM");
/// Where the checksum is in the first word.
const CHECKSUM_SHIFT: u32 = 32;

/// 512 bytes.
pub(crate) type Sector = [u8; SECTOR];

/// What a sector says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// A number of the run that wrote it.
    pub(crate) run: u64,
    /// The writer's number in its run, as far as 16 bits hold it.
    pub(crate) host: u16,
    pub(crate) file: u32,
    pub(crate) offset: u64,
    /// Counts the writes of a worker; higher is newer.
    pub(crate) generation: u32,
    /// How long the write was, in sectors; 65,535 if longer.
    pub(crate) sectors: u16,
}

/// What stands in a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// What somebody wrote with this header.
    Whole(Header),
    /// A header, and bytes that are not those that were written with it.
    Damaged(Header),
    /// Nothing but zeros.
    Zeros,
    /// No header.
    Foreign,
}

impl Header {
    /// Whether the write that it is of can have been in the grain at `offset` of its file, too.
    /// Another worker's writes have the same generations, often in the next grain.
    pub(crate) fn reaches(&self, offset: u64, grain: u64) -> bool {
        let apart = (self.offset / grain).abs_diff(offset / grain) * grain;
        apart < u64::from(self.sectors) * SECTOR as u64 || self.sectors == u16::MAX
    }

    /// Puts the header into `sector`, with the checksum over all of it.
    #[inline]
    pub(crate) fn write(&self, sector: &mut Sector, nonce: u32) {
        let place =
            u64::from(self.sectors) | u64::from(self.host) << 16 | u64::from(self.file) << 32;
        let words =
            [u64::from(MAGIC) | u64::from(self.generation) << 32, self.run, place, self.offset];
        let mut mask = u64::from(nonce);
        sector[..8].copy_from_slice(&u64::from(nonce).to_le_bytes());
        for (bytes, word) in sector[8..HEADER].chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&(word ^ split_mix(&mut mask)).to_le_bytes());
        }
        let first = u64::from(nonce) | u64::from(checksum(sector)) << CHECKSUM_SHIFT;
        sector[..8].copy_from_slice(&first.to_le_bytes());
    }
}

/// Reads `sector`, which may hold anything.
#[inline]
pub(crate) fn read(sector: &Sector) -> Found {
    let first = word(sector, 0);
    let mut mask = first & u64::from(u32::MAX);
    let [head, run, place, offset] =
        [1, 2, 3, 4].map(|index| word(sector, index) ^ split_mix(&mut mask));
    if head as u32 != MAGIC {
        return if sector.iter().all(|byte| *byte == 0) { Found::Zeros } else { Found::Foreign };
    }
    let header = Header {
        run,
        host: (place >> 16) as u16,
        file: (place >> 32) as u32,
        offset,
        generation: (head >> 32) as u32,
        sectors: place as u16,
    };
    let is_whole = checksum(sector) == (first >> CHECKSUM_SHIFT) as u32;
    if is_whole { Found::Whole(header) } else { Found::Damaged(header) }
}

fn checksum(sector: &Sector) -> u32 {
    let first = word(sector, 0) & u64::from(u32::MAX);
    crc32c(std::iter::once(first).chain((1..SECTOR / 8).map(|index| word(sector, index))))
}

#[inline]
fn word(sector: &Sector, index: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&sector[index * 8..index * 8 + 8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER_OF_TEST: Header =
        Header { run: 7, host: 3, file: 2, offset: 1 << 40, generation: 99, sectors: 8 };

    #[test]
    fn what_was_written_is_read_and_every_flipped_bit_is_seen() {
        let mut sector = [0x5a; SECTOR];
        HEADER_OF_TEST.write(&mut sector, 0xdead_beef);
        assert_eq!(read(&sector), Found::Whole(HEADER_OF_TEST));
        for bit in 0..SECTOR * 8 {
            sector[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(read(&sector), Found::Whole(_)), "bit {bit}");
            sector[bit / 8] ^= 1 << (bit % 8);
        }
        sector[511] ^= 1;
        assert_eq!(
            read(&sector),
            Found::Damaged(HEADER_OF_TEST),
            "the header still says whose it was"
        );
    }

    #[test]
    fn what_nobody_wrote_has_no_header() {
        assert_eq!(read(&[0; SECTOR]), Found::Zeros);
        assert_eq!(read(&[0xff; SECTOR]), Found::Foreign);
    }
}
