//! What was purged, in words.

use model::note::{Purged, PurgedBy};

/// `/dev/sdb: 960 GB given back by discards (BLKDISCARD). …`
pub fn sentence(purged: &Purged) -> String {
    let how = match purged.by {
        PurgedBy::Discard => {
            "by discards (BLKDISCARD). When its flash is erased, the device decides"
        }
        PurgedBy::Holes => {
            "by holes in files, and reserved anew. Of the drive below, nothing follows"
        }
        PurgedBy::Simulated => "by the simulation. Simulated flash is as from the factory",
    };
    format!("{}: {} given back {how}", purged.path, purged.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Bytes;

    #[test]
    fn each_way_of_a_purge_says_what_it_is_worth() {
        let said = |by: PurgedBy| {
            sentence(&Purged { path: "/dev/sdb".to_owned(), by, bytes: Bytes::gib(2) })
        };
        for (by, words) in PurgedBy::ALL.iter().zip(["BLKDISCARD", "drive below", "the factory"]) {
            let said = said(*by);
            assert!(said.contains(words) && said.contains("/dev/sdb: 2 GiB given back"), "{said}");
        }
    }
}
