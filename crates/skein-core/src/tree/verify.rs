//! Verifies nodes: compares their hashes with hashes computed from the stored content.
//!
//! A node is judged by itself, with the stored hashes of its parents; a path or a tree is the sum of its nodes
//! ([`Verification`]). What was destroyed on demand is said, not suspected: its hash stands as stored, and everything
//! after it still verifies.

use crate::digest::Digest;
use crate::id::ItemId;
use crate::time::Millis;
use crate::tree::actor::{ActorId, AuthorType};
use crate::tree::node_hash::{Authorship, node_hash_of_text};
use crate::tree::spelled_enum::words;

words! {
    /// What verification found, from best to worst.
    Verdict {
        Valid = "valid",
        /// The hash is right; who wrote it is not proved.
        Imported = "imported",
        /// Content or raw response was destroyed on demand.
        Redacted = "redacted",
        /// A parent or a raw response that the hash covers is missing.
        Incomplete = "incomplete",
        Invalid = "invalid",
    }
}

/// What is left of a model's raw response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawResponseState {
    /// None is to be expected: people, the system and imported text have none.
    None,
    /// The digest of the bytes that are there.
    Kept(Digest),
    /// The bytes were destroyed; their digest is on record.
    Redacted(Digest),
    Missing,
}

/// What is stored about a node.
#[derive(Debug, Clone, Copy)]
pub struct NodeFacts<'a> {
    /// Canonical JSON of its content; `None` when it was redacted.
    pub content: Option<&'a str>,
    pub stored_hash: Digest,
    /// Stored hashes of the parents fixed at its creation; `None` for one that is not there.
    pub parents: &'a [Option<Digest>],
    pub created_at: Millis,
    pub author: ActorId,
    pub author_type: AuthorType,
    pub raw_response: RawResponseState,
    /// A recorded correction says that the hash covers the raw response although the author is no model (decision Z30).
    pub covers_response: bool,
}

impl NodeFacts<'_> {
    pub fn verdict(&self) -> Verdict {
        let Some(content) = self.content else { return Verdict::Redacted };
        let parents: Option<Vec<Digest>> = self.parents.iter().copied().collect();
        let Some(parents) = parents else { return Verdict::Incomplete };
        let covers_response = self.covers_response || self.author_type == AuthorType::Model;
        let (authorship, if_right) = match (self.author_type, &self.raw_response) {
            (AuthorType::Imported, _) => (Authorship::Stated, Verdict::Imported),
            _ if !covers_response => (Authorship::Stated, Verdict::Valid),
            (_, RawResponseState::None | RawResponseState::Missing) => return Verdict::Incomplete,
            (_, RawResponseState::Kept(digest)) => (Authorship::Generated { raw_response: digest }, Verdict::Valid),
            (_, RawResponseState::Redacted(digest)) => {
                (Authorship::Generated { raw_response: digest }, Verdict::Redacted)
            }
        };
        let hash = node_hash_of_text(content, parents, self.created_at, &self.author.bare(), authorship);
        if hash == self.stored_hash { if_right } else { Verdict::Invalid }
    }
}

/// What was found on a path or in a tree: as good as its worst node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verification {
    pub verdict: Verdict,
    /// The first node that has this verdict, if it is not that all is well (rule AG-HASH-003).
    pub first: Option<ItemId>,
    /// How many nodes have each verdict, in the order of [`Verdict::ALL`].
    counts: [u64; Verdict::ALL.len()],
}

impl Default for Verification {
    fn default() -> Self {
        Self { verdict: Verdict::Valid, first: None, counts: [0; Verdict::ALL.len()] }
    }
}

impl Verification {
    /// Adds a node. Parents come before children, so that the first failing one is where the chain broke.
    pub fn add(&mut self, node: ItemId, verdict: Verdict) {
        self.counts[verdict as usize] += 1;
        if verdict > self.verdict {
            (self.verdict, self.first) = (verdict, Some(node));
        }
    }

    pub fn count(&self, verdict: Verdict) -> u64 {
        self.counts[verdict as usize]
    }

    pub fn nodes(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AUTHOR: ActorId = ActorId::from_bytes([7; 16]);
    const TEXT: &str = r#"{"text":"Hello","type":"text"}"#;

    fn hash(parents: Vec<Digest>, raw_response: Option<&Digest>) -> Digest {
        let authorship = raw_response.map_or(Authorship::Stated, |raw_response| Authorship::Generated { raw_response });
        node_hash_of_text(TEXT, parents, Millis(5), &AUTHOR.bare(), authorship)
    }

    fn root() -> NodeFacts<'static> {
        NodeFacts {
            content: Some(TEXT),
            stored_hash: hash(vec![], None),
            parents: &[],
            created_at: Millis(5),
            author: AUTHOR,
            author_type: AuthorType::Human,
            raw_response: RawResponseState::None,
            covers_response: false,
        }
    }

    fn answer(raw_response: RawResponseState) -> NodeFacts<'static> {
        let stored_hash = hash(vec![], Some(&Digest([9; 32])));
        NodeFacts { stored_hash, author_type: AuthorType::Model, raw_response, ..root() }
    }

    #[test]
    fn ag_hash_001_a_person_s_node_holds() {
        assert_eq!(root().verdict(), Verdict::Valid);
        let parents = [Some(Digest([2; 32])), Some(Digest([1; 32]))];
        let stored_hash = hash(vec![Digest([1; 32]), Digest([2; 32])], None);
        assert_eq!(NodeFacts { parents: &parents, stored_hash, ..root() }.verdict(), Verdict::Valid);
    }

    #[test]
    fn ag_hash_001_another_time_author_or_text_refuses() {
        for altered in [
            NodeFacts { created_at: Millis(6), ..root() },
            NodeFacts { author: ActorId::SYSTEM, ..root() },
            NodeFacts { content: Some(r#"{"text":"Hallo","type":"text"}"#), ..root() },
            NodeFacts { parents: &[Some(Digest([1; 32]))], ..root() },
        ] {
            assert_eq!(altered.verdict(), Verdict::Invalid);
        }
    }

    #[test]
    fn ag_hash_002_a_model_s_node_with_its_raw_response_holds() {
        assert_eq!(answer(RawResponseState::Kept(Digest([9; 32]))).verdict(), Verdict::Valid);
    }

    #[test]
    fn ag_hash_002_another_raw_response_refuses() {
        assert_eq!(answer(RawResponseState::Kept(Digest([8; 32]))).verdict(), Verdict::Invalid);
        assert_eq!(answer(RawResponseState::Redacted(Digest([8; 32]))).verdict(), Verdict::Invalid);
    }

    #[test]
    fn ag_hash_003_every_flipped_bit_of_the_content_refuses() {
        for at in 0..TEXT.len() {
            let mut bytes = TEXT.as_bytes().to_vec();
            bytes[at] ^= 1;
            let altered = String::from_utf8(bytes).unwrap();
            assert_eq!(NodeFacts { content: Some(&altered), ..root() }.verdict(), Verdict::Invalid);
        }
    }

    #[test]
    fn ag_hash_003_the_node_where_the_chain_broke_is_named_holds() {
        let node = |number| ItemId::from_bytes([number; 16]);
        let mut path = Verification::default();
        path.add(node(1), Verdict::Valid);
        assert_eq!((path.verdict, path.first), (Verdict::Valid, None));
        for (number, verdict) in [(2, Verdict::Imported), (3, Verdict::Invalid), (4, Verdict::Invalid)] {
            path.add(node(number), verdict);
        }
        path.add(node(5), Verdict::Incomplete);
        assert_eq!((path.verdict, path.first), (Verdict::Invalid, Some(node(3))));
        assert_eq!((path.nodes(), path.count(Verdict::Invalid)), (5, 2));
    }

    #[test]
    fn ag_hash_005_system_and_imported_text_use_the_human_formula_holds() {
        assert_eq!(NodeFacts { author_type: AuthorType::System, ..root() }.verdict(), Verdict::Valid);
        assert_eq!(NodeFacts { author_type: AuthorType::Imported, ..root() }.verdict(), Verdict::Imported);
        let altered = NodeFacts { created_at: Millis(6), author_type: AuthorType::Imported, ..root() };
        assert_eq!(altered.verdict(), Verdict::Invalid);
    }

    #[test]
    fn ag_hash_005_a_corrected_node_is_hashed_with_its_raw_response_holds() {
        let written = NodeFacts { author_type: AuthorType::System, ..answer(RawResponseState::Kept(Digest([9; 32]))) };
        assert_eq!(written.verdict(), Verdict::Invalid);
        let corrected = NodeFacts { covers_response: true, ..written };
        assert_eq!(corrected.verdict(), Verdict::Valid);
        assert_eq!(
            NodeFacts { raw_response: RawResponseState::Redacted(Digest([9; 32])), ..corrected }.verdict(),
            Verdict::Redacted
        );
    }

    #[test]
    fn ag_hash_005_a_correction_proves_nothing_about_altered_content_refuses() {
        let altered = NodeFacts { author_type: AuthorType::System, ..answer(RawResponseState::Kept(Digest([8; 32]))) };
        assert_eq!(NodeFacts { covers_response: true, ..altered }.verdict(), Verdict::Invalid);
        assert_eq!(NodeFacts { covers_response: true, ..root() }.verdict(), Verdict::Incomplete);
    }

    #[test]
    fn ag_hash_005_a_model_without_its_raw_response_refuses() {
        assert_eq!(answer(RawResponseState::Missing).verdict(), Verdict::Incomplete);
        assert_eq!(answer(RawResponseState::None).verdict(), Verdict::Incomplete);
        assert_eq!(NodeFacts { parents: &[None], ..root() }.verdict(), Verdict::Incomplete);
    }

    #[test]
    fn ag_hash_005_what_was_destroyed_on_demand_is_said_holds() {
        assert_eq!(NodeFacts { content: None, ..root() }.verdict(), Verdict::Redacted);
        assert_eq!(answer(RawResponseState::Redacted(Digest([9; 32]))).verdict(), Verdict::Redacted);
    }
}
