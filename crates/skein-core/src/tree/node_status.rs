//! Derives the status of an answer: finished, stale, and its place in the order of alternatives.
//! Nothing of it is stored (decision A26).

use std::cmp::Reverse;

use crate::tree::actor::AuthorType;
use crate::tree::spelled_enum::words;
use crate::tree::turn::Speaker;

words! {
    /// How far the making of a node is (decision A24).
    GenerationStatus {
        /// Its place is reserved, its text is on the way.
        Pending = "pending",
        Complete = "complete",
        Failed = "failed",
    }
}

words! {
    /// Whether a node answers what is selected above it.
    CacheStatus {
        Valid = "valid",
        Stale = "stale",
        Generating = "generating",
    }
}

/// What stands above a node on the path it is seen from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParentStatus {
    /// The node opens its conversation.
    None,
    /// The node it answers is the selected one of its turn, or another version of that in buffer mode.
    Selected,
    /// Another alternative of the parent turn is selected.
    NotSelected,
}

impl CacheStatus {
    /// Words of people, in their own turn or edited into a model's, are the source and never go stale; others follow
    /// what is selected above them (rule BR-TURN-014).
    pub fn derive(speaker: Speaker, author: AuthorType, generation: GenerationStatus, parent: ParentStatus) -> Self {
        if speaker == Speaker::User || author == AuthorType::Human {
            return Self::Valid;
        }
        match (generation, parent) {
            (GenerationStatus::Pending, _) => Self::Generating,
            (_, ParentStatus::NotSelected) => Self::Stale,
            (_, ParentStatus::None | ParentStatus::Selected) => Self::Valid,
        }
    }
}

/// The key by which alternatives of a turn are sorted: the active one first, then the newest (rule BR-ALT-006).
///
/// `sequence` is the order in which they were made inside the turn; pages follow it, so it alone decides.
pub fn display_order(is_active: bool, sequence: i64) -> impl Ord {
    (Reverse(is_active), Reverse(sequence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn br_turn_014_what_is_selected_above_decides_holds() {
        let derive =
            |parent| CacheStatus::derive(Speaker::Agent, AuthorType::Model, GenerationStatus::Complete, parent);
        assert_eq!(derive(ParentStatus::Selected), CacheStatus::Valid);
        assert_eq!(derive(ParentStatus::None), CacheStatus::Valid);
        assert_eq!(derive(ParentStatus::NotSelected), CacheStatus::Stale);
    }

    #[test]
    fn br_turn_014_an_open_execution_is_generating_holds() {
        for parent in [ParentStatus::None, ParentStatus::Selected, ParentStatus::NotSelected] {
            let status = CacheStatus::derive(Speaker::Agent, AuthorType::Model, GenerationStatus::Pending, parent);
            assert_eq!(status, CacheStatus::Generating);
        }
    }

    #[test]
    fn br_turn_014_stale_words_of_people_refuses() {
        for (speaker, author) in [(Speaker::User, AuthorType::Imported), (Speaker::Agent, AuthorType::Human)] {
            let status = CacheStatus::derive(speaker, author, GenerationStatus::Complete, ParentStatus::NotSelected);
            assert_eq!(status, CacheStatus::Valid);
        }
    }

    #[test]
    fn br_alt_006_the_active_one_then_the_newest_holds() {
        let mut alternatives = vec![(false, 1), (true, 2), (false, 3), (false, 4)];
        alternatives.sort_by_key(|(is_active, sequence)| display_order(*is_active, *sequence));
        let order: Vec<i64> = alternatives.into_iter().map(|(_, sequence)| sequence).collect();
        assert_eq!(order, [2, 4, 3, 1]);
    }

    #[test]
    fn br_alt_006_an_older_one_before_a_newer_refuses() {
        assert!(display_order(false, 1) > display_order(false, 2));
    }
}
