//! Checks the items of a bundle against its seals: complete, unaltered and in order.
//!
//! Items and seals are two streams in the order of the timeline, so neither has to be held. A seal covers everything
//! since the one before it; what it covers and the bundle leaves out stands beside it as evidence.

use std::collections::VecDeque;
use std::io::Read;

use skein_core::garden::item::{Item, ItemType};
use skein_core::garden::seal::{Leaf, Seal};
use skein_core::{Digest, ItemId, UserId};

use super::archive::Lines;
use super::json_lines::parse_item;
use super::{BadBundle, altered};
use crate::error::StoreError;

/// Most items that wait for the seal that covers them, each a few dozen bytes: exports and imports are rarer.
const BESIDE_MAX: usize = 1_000_000;

pub(crate) struct SealCheck<R> {
    lines: Lines<R>,
    owner: UserId,
    /// Leaves of the seal at hand that have not been met.
    open: VecDeque<Leaf>,
    /// Items that are left out, since the last seal.
    beside: VecDeque<Leaf>,
    seal: Option<ItemId>,
    head: Option<Digest>,
    is_read: bool,
}

impl<R: Read> SealCheck<R> {
    pub(crate) fn new(lines: Lines<R>, owner: UserId) -> Self {
        let (open, beside) = (VecDeque::new(), VecDeque::new());
        Self { lines, owner, open, beside, seal: None, head: None, is_read: false }
    }

    /// Takes the next item of the bundle; gives the hash of the seal that covers it, if one does.
    pub(crate) fn meet(&mut self, item: &Item) -> Result<Option<Digest>, StoreError> {
        let leaf = Leaf { id: item.header.id, hash: item.hash };
        self.settle()?;
        match self.open.pop_front() {
            None => Ok(None),
            Some(expected) if expected == leaf => Ok(self.head),
            Some(expected) => Err(self.missed(expected, Some(leaf))),
        }
    }

    /// Ends: whatever is sealed has been met, and the last seal is the one the manifest names.
    pub(crate) fn finish(mut self, head: Option<Digest>) -> Result<(), StoreError> {
        self.settle()?;
        if let Some(expected) = self.open.pop_front() {
            return Err(self.missed(expected, None));
        }
        if self.head == head { Ok(()) } else { Err(altered(self.lines.name(), "its last seal is not the head named")) }
    }

    /// Goes on to the next leaf that only an item can meet; none is open when no seal is left.
    fn settle(&mut self) -> Result<(), StoreError> {
        loop {
            while let (Some(leaf), Some(beside)) = (self.open.front(), self.beside.front()) {
                if leaf != beside {
                    break;
                }
                self.open.pop_front();
                self.beside.pop_front();
            }
            if !self.open.is_empty() || self.is_read {
                return Ok(());
            }
            self.read_seal()?;
        }
    }

    /// Reads up to the next seal.
    fn read_seal(&mut self) -> Result<(), StoreError> {
        loop {
            let Some(line) = self.lines.next()? else {
                self.is_read = true;
                return Ok(());
            };
            let item = parse_item(&line).map_err(|problem| altered(self.lines.name(), problem))?;
            if item.header.owner != self.owner {
                return Err(altered(self.lines.name(), format!("{} is another owner's", item.header.id)));
            }
            if item.header.item_type == ItemType::SEAL {
                return self.open_seal(&item);
            }
            self.beside.push_back(Leaf { id: item.header.id, hash: item.hash });
            if self.beside.len() > BESIDE_MAX {
                return Err(altered(self.lines.name(), "too much stands beside its seals"));
            }
        }
    }

    fn open_seal(&mut self, item: &Item) -> Result<(), StoreError> {
        let id = item.header.id;
        let seal = item.document().and_then(|document| Seal::from_document(self.owner, &document));
        let seal = seal.ok_or_else(|| altered(self.lines.name(), format!("{id} is not a seal that holds")))?;
        if seal.head.previous != self.head {
            return Err(altered(self.lines.name(), format!("{id} does not follow the seal before it")));
        }
        self.head = Some(seal.head.hash());
        self.seal = Some(id);
        self.open = seal.leaves.into();
        Ok(())
    }

    fn missed(&self, expected: Leaf, found: Option<Leaf>) -> StoreError {
        let seal = self.seal.map(|id| id.to_string()).unwrap_or_default();
        let problem = match found {
            Some(found) if found.id == expected.id => {
                format!("{seal} sealed it with the hash {}, here it has {}", expected.hash, found.hash)
            }
            Some(found) => format!("{seal} sealed it, but {} stands in its place", found.id),
            None => format!("{seal} sealed it, but it is missing"),
        };
        BadBundle::Item { item: expected.id, problem }.into()
    }
}
