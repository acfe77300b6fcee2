//! An inclusion proof: enough to show, without the store, that an item is part of a sealed history.
//!
//! It leads from the item's own bytes to its hash, along the Merkle path to the root of one seal, to that
//! seal's hash, and on through every later seal of the owner to the last one known when the proof was made.

use serde::{Deserialize, Serialize};

use crate::digest::{Digest, FORMAT};
use crate::garden::item::{Item, ItemHeader, ItemType};
use crate::garden::seal::{Leaf, Seal, SealHead, audit_path, root_from_path};
use crate::id::{ItemId, UserId};
use crate::time::Millis;

/// A proof as it is written to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Proof {
    format: u8,
    #[serde(rename = "_type")]
    item_type: String,
    id: ItemId,
    owner: UserId,
    realized_at: Millis,
    canonical_at: Millis,
    /// The payload as text, when it is a document that was not redacted.
    payload: Option<String>,
    payload_hash: Digest,
    index: usize,
    path: Vec<Digest>,
    /// The seal that covers the item, then every later one.
    seals: Vec<SealHead>,
}

/// What a proof shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofResult {
    pub item: ItemId,
    pub item_hash: Digest,
    pub seal: Digest,
    /// The owner's last seal when the proof was made.
    pub last_seal: Digest,
}

/// Why a proof shows nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadProof {
    #[error("the proof has format {0}; this program reads format {FORMAT}")]
    Format(u8),
    #[error("the payload in the proof has hash {found}, not {expected}")]
    Payload { expected: Digest, found: Digest },
    #[error("the item's type is not one")]
    Type,
    #[error("the item does not lead to the root of its seal")]
    Root,
    #[error("the seals in the proof do not follow each other (at number {0})")]
    Chain(usize),
}

impl Proof {
    /// Proves `item` by the seal that covers it and the owner's later seals; `None` if the seal does not.
    pub fn new(item: &Item, seal: &Seal, later: Vec<SealHead>) -> Option<Self> {
        let leaf = Leaf { id: item.header.id, hash: item.hash };
        let index = seal.leaves.iter().position(|sealed| *sealed == leaf)?;
        let payload = item.payload.as_ref().and_then(|payload| String::from_utf8(payload.bytes().to_vec()).ok());
        Some(Self {
            format: FORMAT,
            item_type: item.header.item_type.as_str().to_owned(),
            id: item.header.id,
            owner: item.header.owner,
            realized_at: item.header.realized_at,
            canonical_at: item.header.canonical_at,
            payload,
            payload_hash: item.payload_hash,
            index,
            path: audit_path(&seal.leaves, index),
            seals: std::iter::once(seal.head.clone()).chain(later).collect(),
        })
    }

    pub fn verify(&self) -> Result<ProofResult, BadProof> {
        if self.format != FORMAT {
            return Err(BadProof::Format(self.format));
        }
        let item_hash = self.item_hash()?;
        let leaf = Leaf { id: self.id, hash: item_hash };
        let first = self.seals.first().filter(|seal| seal.owner == self.owner).ok_or(BadProof::Chain(0))?;
        let count = usize::try_from(first.count).map_err(|_| BadProof::Root)?;
        if root_from_path(leaf.digest(), self.index, count, &self.path) != Some(first.root) {
            return Err(BadProof::Root);
        }
        let last_seal = self.follow_seals(first.hash())?;
        Ok(ProofResult { item: self.id, item_hash, seal: first.hash(), last_seal })
    }

    fn item_hash(&self) -> Result<Digest, BadProof> {
        if let Some(found) = self.payload.as_ref().map(|payload| Digest::of(payload.as_bytes()))
            && found != self.payload_hash
        {
            return Err(BadProof::Payload { expected: self.payload_hash, found });
        }
        let header = ItemHeader {
            item_type: ItemType::parse(&self.item_type).map_err(|_| BadProof::Type)?,
            id: self.id,
            owner: self.owner,
            realized_at: self.realized_at,
            canonical_at: self.canonical_at,
        };
        Ok(header.hash(&self.payload_hash))
    }

    fn follow_seals(&self, first: Digest) -> Result<Digest, BadProof> {
        let mut last = first;
        for (number, seal) in self.seals.iter().enumerate().skip(1) {
            if seal.previous != Some(last) || seal.owner != self.owner {
                return Err(BadProof::Chain(number));
            }
            last = seal.hash();
        }
        Ok(last)
    }
}
