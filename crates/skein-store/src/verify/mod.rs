//! Verifies a store: hashes and seals of every item, and with `deep` every table projected from them.
//!
//! All of it is read on one snapshot, so it can run beside a server that goes on writing.

mod deep;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::mpsc::{Sender, channel};

use serde_json::json;
use skein_core::garden::audit::Audit;
pub use skein_core::garden::audit::IntegrityBreak;
use skein_core::garden::cursor::Cursor;
use skein_core::garden::record::record_hash;
use skein_core::tree::verify::Verdict;
use skein_core::{Digest, NodeId, RecordId, UserId};

use crate::blobs::{Blobs, unnamed_of};
use crate::db::sql::{Row, Value};
use crate::db::tables::{Class, tables_of};
use crate::error::{SqlError, StoreError};
use crate::store::{Store, closed};
use crate::timeline::follow::TimelineQuery;
use crate::timeline::items::read_item;
use crate::tx::Tx;

/// Most breaks that are listed; after the first few, more say little.
pub const BREAKS_MAX: usize = 100;
const UNCORRECTED_NODE: &str =
    "its hash covers a raw response although its author is no model; starting the server records a correction";
const BLOBS: &str = "blobs";
const MISSING: &str = "the object is missing";
const ROWS_PER_PAGE: usize = 10_000;
const ROWS_PER_PROGRESS: u64 = 10_000;

#[derive(Debug, Clone, Default)]
pub struct VerifyOptions {
    /// Also rebuild every table made from items and compare.
    pub deep: bool,
    /// A head noted earlier: the history must end in it or be built upon it, else its end was cut off.
    pub expect: Option<Digest>,
}

/// How far verification is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub stage: &'static str,
    pub done: u64,
    pub total: u64,
}

impl Progress {
    /// How much of the stage is done, never quite all: what ends is told by its outcome.
    pub fn percent(&self) -> i64 {
        let percent = (self.done * 99).checked_div(self.total).unwrap_or(0);
        i64::try_from(percent).map_or(99, |percent| percent.min(99))
    }
}

/// What verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyReport {
    pub items: u64,
    pub sealed: u64,
    pub unsealed: u64,
    pub redacted: u64,
    pub owners: u64,
    /// SHA-256 over every owner's last seal; keep it elsewhere to notice a cut tail.
    pub head: Digest,
    /// Every owner's last seal: what the proofs of their items lead to.
    pub seals: BTreeMap<UserId, Digest>,
    pub breaks: Vec<IntegrityBreak>,
    pub not_proven: Vec<String>,
}

impl VerifyReport {
    /// As it is kept, and shown to programs.
    pub fn to_json(&self) -> serde_json::Value {
        let Self { items, sealed, unsealed, redacted, owners, head, seals, breaks, not_proven } = self;
        let found = |found: &IntegrityBreak| {
            let IntegrityBreak { table, row, problem, expected, found, last_good } = found;
            json!({ "table": table, "row": row, "problem": problem, "expected": expected, "found": found,
                "lastGood": last_good })
        };
        let breaks: Vec<serde_json::Value> = breaks.iter().map(found).collect();
        json!({
            "ok": breaks.is_empty(), "items": items, "sealed": sealed, "unsealed": unsealed, "redacted": redacted,
            "owners": owners, "head": head, "seals": seals, "breaks": breaks, "notProven": not_proven,
        })
    }
}

/// Collects breaks up to [`BREAKS_MAX`] and passes progress on.
pub(crate) struct Findings {
    breaks: Vec<IntegrityBreak>,
    progress: Sender<Progress>,
}

impl Findings {
    fn add(&mut self, broken: impl IntoIterator<Item = IntegrityBreak>) {
        let room = BREAKS_MAX - self.breaks.len();
        self.breaks.extend(broken.into_iter().take(room));
    }

    /// Reports progress; ends the verification when the receiver has gone.
    fn progress(&self, stage: &'static str, done: u64, total: u64) -> Result<(), SqlError> {
        self.progress.send(Progress { stage, done, total }).map_err(|_| SqlError::Interrupted)
    }
}

/// Verifies a store; `progress` is called now and then, and may break off.
pub fn verify_until(
    store: &Store,
    blobs: &Blobs,
    options: &VerifyOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Option<VerifyReport>, StoreError> {
    let mut is_stopped = false;
    let report = verify_while(store, blobs, options, &mut |step| {
        is_stopped = progress(step).is_break();
        !is_stopped
    });
    if is_stopped { Ok(None) } else { report.map(Some) }
}

/// Verifies a store; `progress` is called now and then.
pub fn verify(
    store: &Store,
    blobs: &Blobs,
    options: &VerifyOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<VerifyReport, StoreError> {
    verify_while(store, blobs, options, &mut |step| {
        progress(step);
        true
    })
}

fn verify_while(
    store: &Store,
    blobs: &Blobs,
    options: &VerifyOptions,
    goes_on: &mut dyn FnMut(Progress) -> bool,
) -> Result<VerifyReport, StoreError> {
    let (sender, receiver) = channel();
    let (blobs, options) = (blobs.clone(), options.clone());
    let outcome = store.read_everything(move |tx| {
        let findings = Findings { breaks: Vec::new(), progress: sender };
        tx.verify(&blobs, &options, findings)
    })?;
    // A dropped receiver ends the watch: the next step of the verification finds that out and stops.
    let _ = receiver.into_iter().all(goes_on);
    let mut report = outcome.blocking_recv().unwrap_or_else(|_| Err(closed()))?;
    forget_redacted(store, &mut report.breaks)?;
    Ok(report)
}

/// An object that was destroyed while the store was read, because its attachment was redacted, is no break.
fn forget_redacted(store: &Store, breaks: &mut Vec<IntegrityBreak>) -> Result<(), StoreError> {
    let missing = breaks.iter().filter(|found| found.table == BLOBS && found.problem == MISSING);
    let missing: Vec<Digest> = missing.filter_map(|found| found.row.parse().ok()).collect();
    let redacted = unnamed_of(store, missing)?;
    breaks.retain(|found| found.problem != MISSING || !redacted.iter().any(|hash| hash.to_string() == found.row));
    Ok(())
}

impl Tx<'_> {
    fn verify(
        &mut self,
        blobs: &Blobs,
        options: &VerifyOptions,
        mut findings: Findings,
    ) -> Result<VerifyReport, StoreError> {
        let audit = self.verify_items(options, &mut findings)?;
        self.verify_records(&mut findings)?;
        if options.deep {
            self.verify_projections(&mut findings)?;
            self.verify_nodes(&mut findings)?;
            for problem in self.sql.damage()? {
                findings.add([IntegrityBreak::at("the database file", "its pages and indexes", problem)]);
            }
            self.verify_blobs(blobs, &mut findings)?;
        }
        Ok(VerifyReport {
            items: audit.items,
            sealed: audit.sealed,
            unsealed: audit.unsealed(),
            redacted: audit.redacted,
            owners: audit.owners(),
            head: audit.head(),
            seals: audit.seals(),
            not_proven: not_proven(&audit, options),
            breaks: findings.breaks,
        })
    }

    fn verify_items(&mut self, options: &VerifyOptions, findings: &mut Findings) -> Result<Audit, StoreError> {
        let total = self.first("SELECT max(position) FROM items", &[], |row| row.optional_int(0))?.flatten();
        let total = total.and_then(|total| u64::try_from(total).ok()).unwrap_or(0);
        let mut audit = Audit::expecting(options.expect);
        let mut after = Some(Cursor { tx: i64::MIN, position: i64::MIN });
        while let Some(from) = after {
            after = self.verify_page(from, &mut audit, findings)?;
            findings.progress("items", audit.items.min(total), total)?;
        }
        findings.add(audit.finish());
        Ok(audit)
    }

    /// Checks one page of items; says where the next begins.
    fn verify_page(
        &mut self,
        after: Cursor,
        audit: &mut Audit,
        findings: &mut Findings,
    ) -> Result<Option<Cursor>, StoreError> {
        // No marks are joined: they are themselves to be verified.
        let along = TimelineQuery {
            columns: "i.tx, i.position, i.id, i.owner, i.type, i.realized_at, i.canonical_at, i.hash, i.payload_hash, i.encoding,
                i.payload, NULL, NULL",
            from: "items i",
        };
        let mut rows = 0;
        let mut last = after;
        self.each_after(&along, after, i64::MAX, ROWS_PER_PAGE, &mut |row| {
            rows += 1;
            last = Cursor { tx: row.int(0)?, position: row.int(1)? };
            match read_item(row) {
                Ok(stored) => findings.add(audit.observe(last, &stored.item)),
                Err(error) => findings.add([audit.unreadable(last, &row_name(row, last), &error.to_string())]),
            }
            Ok(())
        })?;
        Ok((rows == ROWS_PER_PAGE).then_some(last))
    }

    /// Every record against its own hash: cheap, and needs no rebuild.
    fn verify_records(&mut self, findings: &mut Findings) -> Result<(), StoreError> {
        let sql = "SELECT id, hash, previous_hash, body, type, shared, name, deleted FROM records ORDER BY id";
        let mut checked = 0;
        self.sql.query(sql, &[], &mut |row| {
            findings.add(check_record(row).unwrap_or_else(|error| Some(unreadable_record(row, &error))));
            checked += 1;
            if checked % ROWS_PER_PROGRESS == 0 {
                findings.progress("records", checked, checked)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Every node against its own hash, with the stored hashes of its parents.
    fn verify_nodes(&mut self, findings: &mut Findings) -> Result<(), StoreError> {
        let (mut after, mut checked) = (None, 0);
        loop {
            let judged = self.verify_all(after)?;
            let Some((last, _)) = judged.last().copied() else { return Ok(()) };
            for (node, verdict) in &judged {
                let broken = match verdict {
                    Some(Verdict::Invalid) => Some(self.broken_node(*node)?),
                    // An answer without a recorded response proves nothing and breaks nothing. Items that were deleted are
                    // found by their seals.
                    Some(Verdict::Incomplete | Verdict::Valid | Verdict::Imported | Verdict::Redacted) | None => None,
                };
                findings.add(broken);
            }
            (after, checked) = (Some(last), checked + judged.len() as u64);
            findings.progress("nodes", checked, checked)?;
        }
    }

    fn broken_node(&mut self, node: NodeId) -> Result<IntegrityBreak, StoreError> {
        let covers_response = matches!(self.verify_with_response(node)?, Some(Verdict::Valid | Verdict::Redacted));
        let problem = if covers_response { UNCORRECTED_NODE } else { "its hash is not that of what is stored" };
        Ok(IntegrityBreak::at("nodes", node.to_string(), problem))
    }

    fn verify_blobs(&mut self, blobs: &Blobs, findings: &mut Findings) -> Result<(), StoreError> {
        let named = self.named_blobs()?;
        let total = named.len() as u64;
        for (index, (hash, size)) in named.into_iter().enumerate() {
            match blobs.block_on(async |blobs| blobs.measure(hash).await) {
                Ok(found) if i64::try_from(found) == Ok(size) => {}
                Ok(found) => findings.add([broken_blob(hash, &format!("it has {found} bytes, not {size}"))]),
                Err(StoreError::NotFound(_)) => findings.add([broken_blob(hash, MISSING)]),
                Err(StoreError::Damaged(problem)) => findings.add([broken_blob(hash, &problem)]),
                Err(error) => return Err(error),
            }
            findings.progress("blobs", index as u64 + 1, total)?;
        }
        Ok(())
    }
}

fn row_name(row: &dyn Row, cursor: Cursor) -> String {
    let id = row.array(2).map(|id| skein_core::ItemId::from_bytes(id).to_string());
    id.unwrap_or_else(|_| format!("the row at {cursor}"))
}

fn check_record(row: &dyn Row) -> Result<Option<IntegrityBreak>, SqlError> {
    let id = row.array(0).map(RecordId::from_bytes)?;
    let (body, previous) = (row.text(3)?, row.optional_array(2)?.map(Digest));
    let (expected, found) = (Digest(row.array(1)?), record_hash(body, previous.as_ref()));
    let broken = |problem: &str, expected: String, found: String| IntegrityBreak {
        expected: Some(expected),
        found: Some(found),
        ..IntegrityBreak::at("records", id.to_string(), problem)
    };
    if expected != found {
        return Ok(Some(broken("its content was altered", expected.to_string(), found.to_string())));
    }
    let content = serde_json::from_str(body).ok().and_then(skein_core::garden::record::RecordContent::from_document);
    let Some(content) = content else {
        return Ok(Some(broken("its body is not a record", body.to_owned(), String::new())));
    };
    let columns = (row.text(4)?, row.int(5)? != 0, row.optional_text(6)?, row.int(7)? != 0);
    let hashed = (content.record_type.as_str(), content.shared, content.name(), content.is_deleted());
    Ok((columns != hashed)
        .then(|| broken("a column differs from the hashed body", format!("{hashed:?}"), format!("{columns:?}"))))
}

fn unreadable_record(row: &dyn Row, error: &SqlError) -> IntegrityBreak {
    let id = row.array(0).map_or_else(|_| "a row without an id".to_owned(), |id| RecordId::from_bytes(id).to_string());
    IntegrityBreak::at("records", id, format!("it cannot be read: {error}"))
}

fn broken_blob(hash: Digest, problem: &str) -> IntegrityBreak {
    IntegrityBreak { expected: Some(hash.to_string()), ..IntegrityBreak::at(BLOBS, hash.to_string(), problem) }
}

fn not_proven(audit: &Audit, options: &VerifyOptions) -> Vec<String> {
    let mut open = Vec::new();
    if audit.unsealed() > 0 {
        open.push(format!("that no item is missing among the {} that are not sealed yet", audit.unsealed()));
    }
    if options.expect.is_none() {
        open.push("that the end was not cut off, or all of it rewritten and sealed anew (give --expect with a head noted earlier)".to_owned());
    }
    open.push("the exact position of an item between the first and the last of its seal, only the order".to_owned());
    open.push("whether a payload is kept as a document or as raw bytes; its bytes are proven".to_owned());
    open.push("that the database's own guards, triggers and unique indexes, are in place".to_owned());
    open.push("on PostgreSQL, that its indexes lead to every row".to_owned());
    open.push(
        "that a secret's value is the one that was put in: it is sealed in the vault, and opening it proves it"
            .to_owned(),
    );
    let operational: Vec<&str> = tables_of(Class::Operational).map(|table| table.name).collect();
    open.push(format!("operational rows, which are never hashed: {}", operational.join(", ")));
    if !options.deep {
        let projected: Vec<&str> = tables_of(Class::Projected).map(|table| table.name).collect();
        open.push(format!("that tables made from items match them (give --deep): {}", projected.join(", ")));
    }
    open
}

/// Values of a row as text, for a report.
pub(crate) fn shown(value: Value<'_>) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Real(value) => value.to_string(),
        Value::Text(value) => value.chars().take(200).collect(),
        Value::Bytes(value) => skein_core::digest::to_hex(&value[..value.len().min(64)]),
    }
}
