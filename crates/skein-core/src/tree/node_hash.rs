//! The content hash of a node: its content, its parents' hashes, when, by whom, and from what raw response.
//!
//! The layout is the one of the loom this design grew from, kept to the byte so that its trees verify here:
//! text parts joined by a delimiter rather than our own length-prefixed fields.

use serde_json::Value;

use crate::canonical::{self, Escape};
use crate::digest::Digest;
use crate::time::Millis;

const DELIMITER: &str = "=|d|=";

/// Who wrote a node, as far as its hash is concerned.
#[derive(Debug, Clone, Copy)]
pub enum Authorship<'a> {
    /// People, the system, and imported text whose raw response nobody has.
    Stated,
    /// A model: its raw response is part of the proof.
    Generated { raw_response: &'a Digest },
}

/// What a node's hash covers. `author` is the actor's bare id (decision Z6).
#[derive(Debug, Clone, Copy)]
pub struct NodeContent<'a> {
    pub content: &'a Value,
    pub parents: &'a [Digest],
    pub created_at: Millis,
    pub author: &'a str,
    pub authorship: Authorship<'a>,
}

pub fn node_hash(node: &NodeContent<'_>) -> Digest {
    let mut parents: Vec<String> = node.parents.iter().map(Digest::to_string).collect();
    parents.sort_unstable();
    let mut parts = vec![
        canonical::to_string(node.content, Escape::Unicode),
        parents.join(","),
        node.created_at.to_string(),
        node.author.to_owned(),
    ];
    if let Authorship::Generated { raw_response } = node.authorship {
        parts.push(raw_response.to_string());
    }
    Digest::of(parts.join(DELIMITER).as_bytes())
}

/// The digest of a raw response: its headers as canonical JSON, a blank line, its body as received.
pub fn raw_response_hash(headers: &Value, body: &[u8]) -> Digest {
    Digest::of(&raw_response_bytes(headers, body))
}

/// A raw response as it is hashed and kept.
pub fn raw_response_bytes(headers: &Value, body: &[u8]) -> Vec<u8> {
    let mut bytes = canonical::to_string(headers, Escape::Unicode).into_bytes();
    bytes.extend_from_slice(b"\n\n");
    bytes.extend_from_slice(body);
    bytes
}
