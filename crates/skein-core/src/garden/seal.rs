//! Seals: per owner, a Merkle tree over the items since the last seal, chained to it.
//!
//! Writers never contend for a chain head; a sealer comes after them. A seal lists its leaves, so that a
//! missing row can be named, and its own hash covers only their root, so that a proof stays small. The tree is
//! that of RFC 6962: leaf and node hashes differ in their first byte, and a list splits at the largest power of
//! two below its length.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::digest::{Digest, FORMAT, FieldHasher};
use crate::garden::cursor::Cursor;
use crate::garden::item::{ItemDraft, ItemType};
use crate::id::{ItemId, UserId};

/// Most items one seal covers; keeps its document well below the size limit.
pub const SEAL_LEAVES_MAX: usize = 4_096;

/// One sealed item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    pub id: ItemId,
    pub hash: Digest,
}

impl Leaf {
    pub fn digest(&self) -> Digest {
        let mut bytes = [0; 49];
        bytes[1..17].copy_from_slice(self.id.as_bytes());
        bytes[17..].copy_from_slice(&self.hash.0);
        Digest::of(&bytes)
    }
}

/// Everything a seal's hash covers.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SealHead {
    pub owner: UserId,
    pub first: Cursor,
    pub last: Cursor,
    pub count: i64,
    pub root: Digest,
    pub previous: Option<Digest>,
}

impl SealHead {
    pub fn hash(&self) -> Digest {
        let cursor = |cursor: Cursor| [cursor.tx.to_be_bytes(), cursor.position.to_be_bytes()].concat();
        FieldHasher::new()
            .field(b"seal")
            .field(self.owner.as_bytes())
            .field(&cursor(self.first))
            .field(&cursor(self.last))
            .field(&self.count.to_be_bytes())
            .field(&self.root.0)
            .field(self.previous.as_ref().map_or(&[][..], |previous| &previous.0[..]))
            .finish()
    }
}

/// A seal with the leaves it covers, in timeline order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    pub head: SealHead,
    pub leaves: Vec<Leaf>,
}

impl Seal {
    /// Seals items of one owner that follow each other; `None` when there are none.
    pub fn over(owner: UserId, entries: &[(Cursor, Leaf)], previous: Option<Digest>) -> Option<Self> {
        let (first, last) = (entries.first()?.0, entries.last()?.0);
        let leaves: Vec<Leaf> = entries.iter().map(|(_, leaf)| *leaf).collect();
        let root = root(&leaves).expect("there is at least one leaf");
        let count = i64::try_from(leaves.len()).expect("seals hold at most a few thousand leaves");
        Some(Self { head: SealHead { owner, first, last, count, root, previous }, leaves })
    }

    pub fn to_draft(&self) -> ItemDraft {
        let leaf = |leaf: &Leaf| json!(format!("{} {}", leaf.id.bare(), leaf.hash));
        let data = Map::from_iter([
            ("first".to_owned(), json!(self.head.first.to_string())),
            ("format".to_owned(), json!(FORMAT)),
            ("hash".to_owned(), json!(self.head.hash().to_string())),
            ("last".to_owned(), json!(self.head.last.to_string())),
            ("leaves".to_owned(), self.leaves.iter().map(leaf).collect()),
            ("previous".to_owned(), json!(self.head.previous.map(|previous| previous.to_string()))),
            ("root".to_owned(), json!(self.head.root.to_string())),
        ]);
        ItemDraft::recorded(ItemType::SEAL, &data)
    }

    /// Reads the payload that [`Self::to_draft`] wrote; `None` for anything else.
    pub fn from_document(owner: UserId, data: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| data.get(name).and_then(Value::as_str);
        let leaves = data.get("leaves")?.as_array()?.iter().map(|leaf| {
            let (id, hash) = leaf.as_str()?.split_once(' ')?;
            Some(Leaf { id: ItemId::from_bare(id).ok()?, hash: hash.parse().ok()? })
        });
        let leaves: Vec<Leaf> = leaves.collect::<Option<_>>()?;
        let head = SealHead {
            owner,
            first: text("first")?.parse().ok()?,
            last: text("last")?.parse().ok()?,
            count: i64::try_from(leaves.len()).ok()?,
            root: text("root")?.parse().ok()?,
            previous: text("previous").map(str::parse).transpose().ok()?,
        };
        let stated: Digest = text("hash")?.parse().ok()?;
        (stated == head.hash() && root(&leaves) == Some(head.root)).then_some(Self { head, leaves })
    }
}

/// What the whole store amounts to: one hash over every owner's last seal.
pub fn head(seals: &BTreeMap<UserId, Digest>) -> Digest {
    let bytes: Vec<u8> =
        seals.iter().flat_map(|(owner, seal)| owner.as_bytes().iter().chain(&seal.0)).copied().collect();
    Digest::of(&bytes)
}

/// The root over leaves in order; `None` without leaves.
pub fn root(leaves: &[Leaf]) -> Option<Digest> {
    let digests: Vec<Digest> = leaves.iter().map(Leaf::digest).collect();
    (!digests.is_empty()).then(|| subtree(&digests))
}

/// The hashes that lead from the leaf at `index` to the root, nearest first.
pub fn audit_path(leaves: &[Leaf], index: usize) -> Vec<Digest> {
    let digests: Vec<Digest> = leaves.iter().map(Leaf::digest).collect();
    let mut path = Vec::new();
    collect_path(&digests, index, &mut path);
    path
}

/// The root that a leaf and its path lead to; `None` when the path does not fit a tree of `count` leaves.
pub fn root_from_path(leaf: Digest, index: usize, count: usize, path: &[Digest]) -> Option<Digest> {
    if count == 0 || index >= count {
        return None;
    }
    if count == 1 {
        return path.is_empty().then_some(leaf);
    }
    let (outermost, inner) = path.split_last()?;
    let split = split(count);
    if index < split {
        return Some(node(&root_from_path(leaf, index, split, inner)?, outermost));
    }
    Some(node(outermost, &root_from_path(leaf, index - split, count - split, inner)?))
}

fn subtree(digests: &[Digest]) -> Digest {
    if let [only] = digests {
        return *only;
    }
    let (left, right) = digests.split_at(split(digests.len()));
    node(&subtree(left), &subtree(right))
}

fn collect_path(digests: &[Digest], index: usize, path: &mut Vec<Digest>) {
    if digests.len() < 2 {
        return;
    }
    let (left, right) = digests.split_at(split(digests.len()));
    if index < left.len() {
        collect_path(left, index, path);
        path.push(subtree(right));
    } else {
        collect_path(right, index - left.len(), path);
        path.push(subtree(left));
    }
}

/// The largest power of two below `count`.
fn split(count: usize) -> usize {
    count.next_power_of_two() / 2
}

fn node(left: &Digest, right: &Digest) -> Digest {
    let mut bytes = [1; 65];
    bytes[1..33].copy_from_slice(&left.0);
    bytes[33..].copy_from_slice(&right.0);
    Digest::of(&bytes)
}
