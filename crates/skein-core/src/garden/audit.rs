//! Checking a timeline item by item: every hash, every seal, and what is missing between them.
//!
//! Pure: somebody else reads the rows and hands them over in order. Memory is bounded by how many items wait for
//! their seal, not by how many there are.

use std::collections::{BTreeMap, VecDeque};

use crate::digest::Digest;
use crate::garden::cursor::Cursor;
use crate::garden::item::{Item, ItemType};
use crate::garden::seal::{self, Leaf, Seal};
use crate::id::{ItemId, UserId};

/// Something that is not as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegrityBreak {
    pub table: String,
    pub row: String,
    pub problem: String,
    pub expected: Option<String>,
    pub found: Option<String>,
    /// The last item before it that is as it was recorded.
    pub last_good: Option<String>,
}

impl IntegrityBreak {
    /// What is wrong with one row, as far as that alone tells.
    pub fn at(table: &str, row: impl Into<String>, problem: impl Into<String>) -> Self {
        let (table, row, problem) = (table.to_owned(), row.into(), problem.into());
        Self { table, row, problem, expected: None, found: None, last_good: None }
    }
}

/// What is known after the items seen so far.
#[derive(Debug, Default)]
pub struct Audit {
    owners: BTreeMap<UserId, SealChain>,
    last: Option<Cursor>,
    last_good: Option<ItemId>,
    /// Items without payload whose redaction has not been seen.
    unexplained: BTreeMap<ItemId, Digest>,
    /// A head noted earlier that this timeline must end in or be built upon, and whether it has been met.
    expected: Option<Digest>,
    met: bool,
    pub items: u64,
    pub sealed: u64,
    pub redacted: u64,
}

#[derive(Debug, Default)]
struct SealChain {
    waiting: VecDeque<(Cursor, Leaf)>,
    last_seal: Option<Digest>,
}

impl Audit {
    pub fn expecting(expected: Option<Digest>) -> Self {
        let empty = seal::head(&BTreeMap::new());
        Self { expected, met: expected == Some(empty), ..Self::default() }
    }

    /// Takes the next item in timeline order; returns what is wrong with it or with what it seals.
    pub fn observe(&mut self, cursor: Cursor, item: &Item) -> Vec<IntegrityBreak> {
        self.items += 1;
        let mut breaks = Vec::new();
        if self.last.is_some_and(|last| cursor <= last) {
            breaks.push(self.broken(item.header.id, "it is not where the timeline continues"));
        }
        self.last = Some(cursor);
        if let Err(mismatch) = item.check() {
            breaks.push(IntegrityBreak {
                expected: Some(mismatch.expected.to_string()),
                found: Some(mismatch.found.to_string()),
                ..self.broken(item.header.id, &format!("its {} was altered", mismatch.part))
            });
        }
        if item.payload.is_none() {
            self.redacted += 1;
            self.unexplained.insert(item.header.id, item.payload_hash);
        }
        if item.header.item_type == ItemType::SEAL {
            self.observe_seal(item, &mut breaks);
        } else {
            let leaf = Leaf { id: item.header.id, hash: item.hash };
            self.owners.entry(item.header.owner).or_default().waiting.push_back((cursor, leaf));
            self.observe_redaction(item, &mut breaks);
        }
        if breaks.is_empty() {
            self.last_good = Some(item.header.id);
        }
        breaks
    }

    /// A row that cannot even be read as an item.
    pub fn unreadable(&mut self, cursor: Cursor, row: &str, problem: &str) -> IntegrityBreak {
        self.items += 1;
        self.last = Some(cursor);
        self.break_at(row.to_owned(), problem)
    }

    /// What is still open at the end.
    pub fn finish(&self) -> Vec<IntegrityBreak> {
        let unexplained = self.unexplained.keys();
        let unexplained = unexplained.map(|id| self.broken(*id, "its payload is gone and no redaction says why"));
        let missed = self.expected.filter(|_| !self.met).map(|expected| IntegrityBreak {
            table: "seals".to_owned(),
            expected: Some(expected.to_string()),
            found: Some(self.head().to_string()),
            ..self.break_at(
                "the head".to_owned(),
                "the history never passed the expected head: its end was cut off or replaced",
            )
        });
        unexplained.chain(missed).collect()
    }

    pub fn unsealed(&self) -> u64 {
        self.owners.values().map(|chain| chain.waiting.len() as u64).sum()
    }

    pub fn owners(&self) -> u64 {
        self.owners.len() as u64
    }

    /// Every owner's last seal.
    pub fn seals(&self) -> BTreeMap<UserId, Digest> {
        self.owners.iter().filter_map(|(owner, chain)| Some((*owner, chain.last_seal?))).collect()
    }

    /// One hash over every owner's last seal.
    pub fn head(&self) -> Digest {
        seal::head(&self.seals())
    }

    fn observe_redaction(&mut self, item: &Item, breaks: &mut Vec<IntegrityBreak>) {
        if item.header.item_type != ItemType::REDACTION {
            return;
        }
        let Some(document) = item.document() else { return };
        let text = |name: &str| document.get(name).and_then(serde_json::Value::as_str);
        let target = text("itemId").and_then(|id| id.parse::<ItemId>().ok());
        match (target, text("payloadHash")) {
            (Some(target), Some(hash)) => match self.unexplained.remove(&target) {
                Some(found) if found.to_string() != hash => breaks.push(IntegrityBreak {
                    expected: Some(hash.to_owned()),
                    found: Some(found.to_string()),
                    ..self.broken(target, "the hash of its redacted payload was altered")
                }),
                Some(_) => {}
                None => breaks.push(self.broken(target, "it was redacted, but its payload is there or its row is not")),
            },
            _ => breaks.push(self.broken(item.header.id, "it is not a readable redaction")),
        }
    }

    fn observe_seal(&mut self, item: &Item, breaks: &mut Vec<IntegrityBreak>) {
        let owner = item.header.owner;
        let seal = item.document().and_then(|document| Seal::from_document(owner, &document));
        let Some(seal) = seal else {
            return breaks.push(self.broken(item.header.id, "it is not a readable seal"));
        };
        let chain = self.owners.entry(owner).or_default();
        let (previous, hash) = (chain.last_seal.replace(seal.head.hash()), seal.head.previous);
        if previous != hash {
            breaks.push(IntegrityBreak {
                expected: hash.map(|hash| hash.to_string()),
                found: previous.map(|hash| hash.to_string()),
                ..self.broken(item.header.id, "the seal before this one is not the one it follows")
            });
        }
        self.compare_leaves(item.header.id, &seal, breaks);
        if !self.met && self.expected.is_some() {
            self.met = self.expected == Some(self.head());
        }
    }

    fn compare_leaves(&mut self, seal_id: ItemId, seal: &Seal, breaks: &mut Vec<IntegrityBreak>) {
        let chain = self.owners.entry(seal.head.owner).or_default();
        let covered = chain.waiting.iter().take_while(|(cursor, _)| *cursor <= seal.head.last).count();
        let found: Vec<(Cursor, Leaf)> = chain.waiting.drain(..covered).collect();
        self.sealed += found.len() as u64;
        let in_order = found.iter().map(|(_, leaf)| leaf).eq(&seal.leaves);
        let in_place = found.first().map(|(cursor, _)| *cursor) == Some(seal.head.first)
            && found.last().map(|(cursor, _)| *cursor) == Some(seal.head.last);
        if in_order && in_place {
            return;
        }
        self.name_differences(seal_id, seal, &found, breaks);
        if breaks.is_empty() {
            breaks.push(self.broken(seal_id, "the items it covers are not in the order in which it sealed them"));
        }
    }

    /// Says which of the items a seal covers is missing, altered or was put in later.
    fn name_differences(
        &self,
        seal_id: ItemId,
        seal: &Seal,
        found: &[(Cursor, Leaf)],
        breaks: &mut Vec<IntegrityBreak>,
    ) {
        let expected: BTreeMap<ItemId, Digest> = seal.leaves.iter().map(|leaf| (leaf.id, leaf.hash)).collect();
        let present: BTreeMap<ItemId, Digest> = found.iter().map(|(_, leaf)| (leaf.id, leaf.hash)).collect();
        for leaf in &seal.leaves {
            match present.get(&leaf.id) {
                Some(hash) if *hash == leaf.hash => {}
                Some(hash) => breaks.push(IntegrityBreak {
                    expected: Some(leaf.hash.to_string()),
                    found: Some(hash.to_string()),
                    ..self.broken(leaf.id, &format!("it was sealed by {seal_id} with another hash"))
                }),
                None => breaks.push(IntegrityBreak {
                    expected: Some(leaf.hash.to_string()),
                    ..self.broken(leaf.id, &format!("the row is missing; {seal_id} sealed it"))
                }),
            }
        }
        for (_, leaf) in found.iter().filter(|(_, leaf)| !expected.contains_key(&leaf.id)) {
            breaks.push(IntegrityBreak {
                found: Some(leaf.hash.to_string()),
                ..self.broken(leaf.id, &format!("the row was put in later; {seal_id} does not cover it"))
            });
        }
    }

    fn broken(&self, id: ItemId, problem: &str) -> IntegrityBreak {
        self.break_at(id.to_string(), problem)
    }

    fn break_at(&self, row: String, problem: &str) -> IntegrityBreak {
        IntegrityBreak {
            last_good: self.last_good.map(|id| id.to_string()),
            ..IntegrityBreak::at("items", row, problem)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::garden::item::{ItemDraft, Payload, PayloadForm};
    use crate::time::Millis;
    use serde_json::{Map, json};

    const OWNER: UserId = UserId::from_bytes([1; 16]);

    fn note(number: u8) -> Item {
        let data = Map::from_iter([("description".to_owned(), json!(number))]);
        ItemDraft::recorded(ItemType::NOTE, &data).realize(
            ItemId::from_bytes([number; 16]),
            OWNER,
            Millis(number.into()),
        )
    }

    fn seal(number: u8, covered: &[(Cursor, Item)], previous: Option<Digest>) -> (Item, Digest) {
        let entries: Vec<_> =
            covered.iter().map(|(at, item)| (*at, Leaf { id: item.header.id, hash: item.hash })).collect();
        let seal = Seal::over(OWNER, &entries, previous).unwrap();
        let item = seal.to_draft().realize(ItemId::from_bytes([number; 16]), OWNER, Millis(number.into()));
        (item, seal.head.hash())
    }

    /// Three notes sealed, two more sealed on top of them, one unsealed.
    fn timeline() -> Vec<(Cursor, Item)> {
        let at = |number: u8| (Cursor { tx: 0, position: i64::from(number) }, note(number));
        let first = [at(1), at(2), at(3)];
        let (seal_one, hash) = seal(4, &first, None);
        let second = [at(5), at(6)];
        let (seal_two, _) = seal(7, &second, Some(hash));
        let place = |number| Cursor { tx: 0, position: number };
        let [mut rows, second] = [first.to_vec(), second.to_vec()];
        rows.push((place(4), seal_one));
        rows.extend(second);
        rows.push((place(7), seal_two));
        rows.push(at(8));
        rows
    }

    fn audit(rows: &[(Cursor, Item)]) -> (Audit, Vec<IntegrityBreak>) {
        let mut audit = Audit::default();
        let mut breaks: Vec<IntegrityBreak> =
            rows.iter().flat_map(|(cursor, item)| audit.observe(*cursor, item)).collect();
        breaks.extend(audit.finish());
        (audit, breaks)
    }

    fn problems(rows: &[(Cursor, Item)]) -> Vec<(String, String)> {
        audit(rows).1.into_iter().map(|broken| (broken.row, broken.problem)).collect()
    }

    #[test]
    fn an_untouched_timeline_verifies() {
        let (audit, breaks) = audit(&timeline());
        assert_eq!(breaks, []);
        assert_eq!((audit.items, audit.sealed, audit.unsealed()), (8, 5, 1));
    }

    #[test]
    fn a_missing_row_is_named() {
        let mut rows = timeline();
        let (_, gone) = rows.remove(1);
        let (_, breaks) = audit(&rows);
        assert_eq!(breaks[0].row, gone.header.id.to_string());
        assert!(breaks[0].problem.contains("missing"));
        assert_eq!(breaks[0].last_good, Some(note(3).header.id.to_string()));
    }

    #[test]
    fn a_row_rewritten_with_a_fitting_hash_is_named() {
        let mut rows = timeline();
        rows[0].1 = {
            let data = Map::from_iter([("description".to_owned(), json!("forged"))]);
            ItemDraft::recorded(ItemType::NOTE, &data).realize(note(1).header.id, OWNER, Millis(1))
        };
        assert!(problems(&rows)[0].1.contains("sealed by"));
    }

    #[test]
    fn an_altered_payload_is_located() {
        let mut rows = timeline();
        rows[2].1.payload = Some(Payload::stored(b"{}".to_vec(), PayloadForm::Document));
        let (_, breaks) = audit(&rows);
        assert_eq!(breaks[0].row, note(3).header.id.to_string());
        assert_eq!(breaks[0].last_good, Some(note(2).header.id.to_string()));
        assert!(breaks[0].expected.is_some() && breaks[0].found.is_some());
    }

    #[test]
    fn an_inserted_row_and_a_missing_seal_are_named() {
        let mut rows = timeline();
        rows.insert(2, (Cursor { tx: 0, position: 2 }, note(9)));
        assert!(problems(&rows).iter().any(|(_, problem)| problem.contains("put in later")));
        let mut rows = timeline();
        rows.remove(3);
        assert!(problems(&rows).iter().any(|(_, problem)| problem.contains("the seal before")));
    }

    #[test]
    fn a_payload_that_vanished_without_a_redaction_is_named() {
        let mut rows = timeline();
        rows[4].1.payload = None;
        assert!(problems(&rows)[0].1.contains("no redaction"));
    }

    #[test]
    fn a_redacted_payload_that_is_back_is_named() {
        let mut rows = timeline();
        let data = json!({ "itemId": note(8).header.id.to_string(), "payloadHash": note(8).payload_hash.to_string(), "reason": "r" });
        let serde_json::Value::Object(data) = data else { unreachable!() };
        let redaction =
            ItemDraft::recorded(ItemType::REDACTION, &data).realize(ItemId::from_bytes([9; 16]), OWNER, Millis(9));
        rows.push((Cursor { tx: 0, position: 9 }, redaction));
        assert!(problems(&rows)[0].1.contains("was redacted"));
        rows[7].1.payload = None;
        assert_eq!(problems(&rows), []);
    }

    #[test]
    fn an_expected_head_is_met_at_the_end_or_on_the_way_and_missed_when_the_end_was_cut() {
        let rows = timeline();
        let heads: Vec<Digest> = [0, 4, 7, 8].iter().map(|count| audit(&rows[..*count]).0.head()).collect();
        let misses = |expected: Digest, rows: &[(Cursor, Item)]| {
            let mut audit = Audit::expecting(Some(expected));
            for (cursor, item) in rows {
                audit.observe(*cursor, item);
            }
            audit.finish().len()
        };
        assert!(heads.iter().all(|head| misses(*head, &rows) == 0));
        assert_eq!(misses(heads[2], &rows[..6]), 1);
        assert_eq!(misses(Digest::of(b"another"), &rows), 1);
    }

    #[test]
    fn rows_that_changed_places_are_noticed() {
        let mut rows = timeline();
        let (first, second) = (rows[0].1.clone(), rows[1].1.clone());
        rows[0].1 = second;
        rows[1].1 = first;
        assert!(problems(&rows)[0].1.contains("order"));
    }
}
