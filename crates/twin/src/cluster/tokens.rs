//! Who may touch a block of a file that hosts share: byte-range tokens, one for each block of the
//! file system (Schmuck and Haskin, FAST 2002).

use super::streams::Spread;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

/// A wish for the token of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    pub(super) file: u32,
    pub(super) block: u64,
    pub(super) client: u32,
    /// To write; readers share.
    pub(super) is_exclusive: bool,
}

/// A request that waits: its flow, and the hop with which it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiter {
    pub(super) flow: u32,
    pub(super) hop: u32,
}

/// What becomes of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// Its client has had it from before.
    Held,
    /// Nobody has anything against it; the server has to be asked.
    Granted,
    /// Others have it, do nothing under it, and have to give it back first.
    Revoked,
    /// Others are at work under it.
    Waits,
}

#[derive(Clone, Debug, Default)]
struct Block {
    holders: Vec<u32>,
    is_exclusive: bool,
    /// Requests at work under it.
    users: u32,
    waiting: VecDeque<(Waiter, u32, bool)>,
}

impl Block {
    fn give(&mut self, client: u32, is_exclusive: bool) {
        self.holders.clear();
        self.holders.push(client);
        self.is_exclusive = is_exclusive;
        self.users = 1;
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tokens(HashMap<(u32, u64), Block, BuildHasherDefault<Spread>>);

impl Tokens {
    /// A request of `waiter` wants the token. Whoever comes later than one that waits, waits behind
    /// it.
    pub(super) fn claim(&mut self, ask: Ask, waiter: Waiter) -> Claim {
        let block = self.0.entry((ask.file, ask.block)).or_default();
        if !block.waiting.is_empty() {
            block.waiting.push_back((waiter, ask.client, ask.is_exclusive));
            return Claim::Waits;
        }
        let has = block.holders.contains(&ask.client);
        if has && (block.is_exclusive || !ask.is_exclusive) {
            block.users += 1;
            return Claim::Held;
        }
        if block.holders.is_empty() {
            block.give(ask.client, ask.is_exclusive);
            return Claim::Granted;
        }
        // Who alone reads may write without taking anything from anybody.
        if has && block.holders.len() == 1 {
            block.is_exclusive = true;
            block.users += 1;
            return Claim::Granted;
        }
        if !block.is_exclusive && !ask.is_exclusive {
            block.holders.push(ask.client);
            block.users += 1;
            return Claim::Granted;
        }
        if block.users == 0 {
            block.give(ask.client, ask.is_exclusive);
            return Claim::Revoked;
        }
        block.waiting.push_back((waiter, ask.client, ask.is_exclusive));
        Claim::Waits
    }

    /// A request is through with a block. Those that have its token from now on, after it was taken
    /// back, are put into `woken`.
    pub(super) fn release(&mut self, file: u32, number: u64, woken: &mut Vec<Waiter>) {
        let Some(block) = self.0.get_mut(&(file, number)) else { return };
        block.users = block.users.saturating_sub(1);
        if block.users > 0 {
            return;
        }
        let Some((waiter, client, is_exclusive)) = block.waiting.pop_front() else { return };
        block.give(client, is_exclusive);
        woken.push(waiter);
        // Readers behind a reader share with it.
        while let Some((waiter, client, false)) =
            block.waiting.front().copied().filter(|_| !is_exclusive)
        {
            block.waiting.pop_front();
            if !block.holders.contains(&client) {
                block.holders.push(client);
            }
            block.users += 1;
            woken.push(waiter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(tokens: &mut Tokens, client: u32, is_exclusive: bool, flow: u32) -> Claim {
        tokens.claim(Ask { file: 0, block: 7, client, is_exclusive }, Waiter { flow, hop: 1 })
    }

    fn release(tokens: &mut Tokens) -> Vec<u32> {
        let mut woken = Vec::new();
        tokens.release(0, 7, &mut woken);
        woken.into_iter().map(|waiter| waiter.flow).collect()
    }

    #[test]
    fn a_token_is_kept_until_another_client_wants_it() {
        let mut tokens = Tokens::default();
        assert_eq!(claim(&mut tokens, 1, true, 0), Claim::Granted);
        assert_eq!(release(&mut tokens), Vec::<u32>::new());
        assert_eq!([true, false].map(|write| claim(&mut tokens, 1, write, 0)), [Claim::Held; 2]);
        assert_eq!((release(&mut tokens), release(&mut tokens)), (vec![], vec![]));
        assert_eq!(claim(&mut tokens, 2, false, 0), Claim::Revoked);
    }

    #[test]
    fn readers_share_and_a_writer_waits_for_all_of_them_in_turn() {
        let mut tokens = Tokens::default();
        assert_eq!(
            [1, 2].map(|client| claim(&mut tokens, client, false, client)),
            [Claim::Granted; 2]
        );
        assert_eq!(claim(&mut tokens, 3, true, 3), Claim::Waits);
        // Nobody passes one that waits, not even a reader that has it.
        assert_eq!(
            [1, 4].map(|client| claim(&mut tokens, client, false, 10 + client)),
            [Claim::Waits; 2]
        );
        assert_eq!(release(&mut tokens), Vec::<u32>::new());
        assert_eq!(release(&mut tokens), [3]);
        assert_eq!(release(&mut tokens), [11, 14], "both readers at once");
    }

    #[test]
    fn a_sole_reader_becomes_the_writer_with_one_question() {
        let mut tokens = Tokens::default();
        assert_eq!(claim(&mut tokens, 1, false, 0), Claim::Granted);
        assert_eq!(claim(&mut tokens, 1, true, 1), Claim::Granted);
        assert_eq!(claim(&mut tokens, 2, false, 2), Claim::Waits, "two are at work under it");
    }

    #[test]
    fn other_blocks_and_files_have_tokens_of_their_own() {
        let mut tokens = Tokens::default();
        let ask = |file, block, client| Ask { file, block, client, is_exclusive: true };
        for (file, block) in [(0, 0), (0, 1), (1, 0)] {
            let claim = tokens.claim(ask(file, block, file), Waiter { flow: 0, hop: 0 });
            assert_eq!(claim, Claim::Granted, "{file} {block}");
        }
        let mut woken = Vec::new();
        tokens.release(9, 9, &mut woken);
        assert!(woken.is_empty());
    }
}
