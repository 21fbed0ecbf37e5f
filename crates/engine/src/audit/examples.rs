//! Which damaged blocks are told one by one: the first ones, but of every kind. A file that ends
//! early would otherwise fill the list with its missing blocks, and the one misdirected write among
//! them would only be counted.

use model::audit::DamageKind;

/// How many blocks of each kind are told, where `found` has the kind of each and `kept` are told
/// together: the kinds take turns, the one that comes first before the others, until the list is
/// full.
fn quota(found: &[DamageKind], kept: usize) -> [usize; DamageKind::ALL.len()] {
    let (mut counts, mut told) = ([0; DamageKind::ALL.len()], [0; DamageKind::ALL.len()]);
    let mut turns: Vec<usize> = Vec::with_capacity(DamageKind::ALL.len());
    for kind in found.iter().map(|kind| index(*kind)) {
        counts[kind] += 1;
        if counts[kind] == 1 {
            turns.push(kind);
        }
    }
    let mut left = kept.min(found.len());
    while left > 0 {
        for kind in &turns {
            if told[*kind] < counts[*kind] && left > 0 {
                told[*kind] += 1;
                left -= 1;
            }
        }
    }
    told
}

fn index(kind: DamageKind) -> usize {
    DamageKind::ALL.iter().position(|other| *other == kind).unwrap_or_default()
}

/// Keeps the first `kept` of each kind; the order stays.
pub(super) fn keep_of_each<T>(all: &mut Vec<T>, kind: impl Fn(&T) -> DamageKind, kept: usize) {
    keep(all, kind, [kept; DamageKind::ALL.len()]);
}

/// Keeps `kept` together, of every kind as many as come out by turns; the order stays.
pub(super) fn keep_in_turns<T>(all: &mut Vec<T>, kind: impl Fn(&T) -> DamageKind, kept: usize) {
    let found: Vec<DamageKind> = all.iter().map(&kind).collect();
    keep(all, kind, quota(&found, kept));
}

fn keep<T>(
    all: &mut Vec<T>,
    kind: impl Fn(&T) -> DamageKind,
    mut left: [usize; DamageKind::ALL.len()],
) {
    all.retain(|one| {
        let left = &mut left[index(kind(one))];
        let is_told = *left > 0;
        *left -= usize::from(is_told);
        is_told
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use DamageKind::{Corrupt, Lost, Misdirected, Unreadable};

    #[test]
    fn every_kind_is_told_however_many_there_are_of_another() {
        let of = |kind: DamageKind, count: usize| (0..count).map(move |number| (kind, number));
        let mut all: Vec<_> =
            of(Unreadable, 100).chain(of(Corrupt, 1)).chain(of(Lost, 3)).collect();
        keep_of_each(&mut all, |one| one.0, 4);
        assert_eq!(all.len(), 4 + 1 + 3);
        keep_in_turns(&mut all, |one| one.0, 4);
        assert_eq!(
            all,
            [(Unreadable, 0), (Unreadable, 1), (Corrupt, 0), (Lost, 0)],
            "in their order, the first of each"
        );
        keep_in_turns(&mut all, |one| one.0, 1);
        assert_eq!(all, [(Unreadable, 0)], "the very first");
        keep_in_turns(&mut all, |one| one.0, 0);
        assert!(all.is_empty());
    }

    #[test]
    fn a_list_that_has_room_has_all_of_them() {
        let all = [Lost, Unreadable, Unreadable, Misdirected];
        for kept in [4, 5, usize::MAX] {
            let mut told = all.to_vec();
            keep_in_turns(&mut told, |one| *one, kept);
            assert_eq!(told, all);
        }
    }
}
