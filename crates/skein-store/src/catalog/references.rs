//! Stores the references between live catalog records, for safe deletion and for lists of instances.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value as Json;
use skein_core::garden::delta::Delta;
use skein_core::garden::record::{Record, RecordContent};
use skein_core::{RecordId, UserId, Viewer};

use crate::catalog::entries::{OwnershipFilter, VisibilityTable};
use crate::catalog::list_index::headings_of;
use crate::catalog::vault::value_version;
use crate::db::sql::{Row, Value, params};
use crate::error::{SqlError, StoreError};
use crate::timeline::items::Page;
use crate::timeline::records::{RECORD_COLUMNS, RECORDS_PER_PAGE_MAX, read_record};
use crate::tx::{Tx, system_only};

/// Most referring records that are named to somebody who cannot delete what they refer to.
pub const REFERRING_NAMED_MAX: usize = 5;

/// As what a record speaks of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceKind {
    Service,
    Secret,
    Template,
    Tool,
    Process,
}

impl ReferenceKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Secret => "secret",
            Self::Template => "template",
            Self::Tool => "tool",
            Self::Process => "process",
        }
    }
}

impl fmt::Display for ReferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which field of which type of record names what.
const FIELDS: [(&str, &str, ReferenceKind); 6] = [
    ("Tool", "serviceId", ReferenceKind::Service),
    ("Tool", "secretId", ReferenceKind::Secret),
    ("Tool", "toolTemplateId", ReferenceKind::Template),
    ("Service", "serviceTemplateId", ReferenceKind::Template),
    ("SecretBinding", "toolId", ReferenceKind::Tool),
    ("SecretBinding", "secretId", ReferenceKind::Secret),
];

/// What a record speaks of, each once. Ids are spelled as the API spells them; what is no id refers to nothing.
pub(crate) fn references_of(content: &RecordContent) -> BTreeSet<(ReferenceKind, RecordId)> {
    let mut found = BTreeSet::new();
    for (_, field, kind) in FIELDS.iter().filter(|(record_type, ..)| *record_type == content.record_type.as_str()) {
        note(content.data.get(*field), *kind, &mut found);
    }
    let is_put_away = content.data.get("archived").and_then(Json::as_bool) == Some(true);
    if content.record_type.as_str() == "Process" && !is_put_away {
        steps_speak_of(content.data.get("steps"), &mut found);
    }
    found
}

/// Steps name what they call, what they offer to a model, and what stands in for them.
fn steps_speak_of(steps: Option<&Json>, found: &mut BTreeSet<(ReferenceKind, RecordId)>) {
    for step in steps.and_then(Json::as_array).into_iter().flatten() {
        note(step.get("toolId"), ReferenceKind::Tool, found);
        note(step.get("processId"), ReferenceKind::Process, found);
        for offer in step.get("tools").and_then(Json::as_array).into_iter().flatten() {
            note(offer.get("toolId"), ReferenceKind::Tool, found);
        }
        steps_speak_of(step.get("fallback"), found);
    }
}

fn note(id: Option<&Json>, kind: ReferenceKind, found: &mut BTreeSet<(ReferenceKind, RecordId)>) {
    if let Some(target) = id.and_then(Json::as_str).and_then(|id| id.parse().ok()) {
        found.insert((kind, target));
    }
}

/// How many live records speak of one, as its owner is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Referrers {
    pub total: i64,
    pub by_others: i64,
    /// Of those by others, how many are shared.
    pub shared_by_others: i64,
    pub owners_among_others: i64,
}

/// What is counted of those that speak of something; others are not of `?3`.
const COUNTED: &str = "SELECT count(*), count(CASE WHEN owner <> ?3 THEN 1 END),
         count(CASE WHEN owner <> ?3 AND shared = 1 THEN 1 END), count(DISTINCT CASE WHEN owner <> ?3 THEN owner END)
     FROM record_references";

fn read_referrers(row: &dyn Row) -> Result<Referrers, SqlError> {
    Ok(Referrers {
        total: row.int(0)?,
        by_others: row.int(1)?,
        shared_by_others: row.int(2)?,
        owners_among_others: row.int(3)?,
    })
}

impl Tx<'_> {
    /// How many live records of anybody speak of `target`; others are those that do not belong to `owner`.
    pub fn referrers(&mut self, target: RecordId, kind: ReferenceKind, owner: UserId) -> Result<Referrers, StoreError> {
        let sql = format!("{COUNTED} WHERE target = ?1 AND kind = ?2");
        let counted = self.first(&sql, params![&target, kind.as_str(), &owner], read_referrers)?;
        Ok(counted.unwrap_or_default())
    }

    /// [`Self::referrers`] that are processes; one that speaks of itself does not count.
    pub fn referring_processes(
        &mut self,
        target: RecordId,
        kind: ReferenceKind,
        owner: UserId,
    ) -> Result<Referrers, StoreError> {
        let sql = format!("{COUNTED} WHERE target = ?1 AND kind = ?2 AND type = 'Process' AND record <> ?1");
        let counted = self.first(&sql, params![&target, kind.as_str(), &owner], read_referrers)?;
        Ok(counted.unwrap_or_default())
    }

    /// How many processes of others than `owner` call tools of others than `owner` that stand on a service, and how many
    /// users have such a process or such a tool.
    pub fn processes_above(&mut self, service: RecordId, owner: UserId) -> Result<(i64, i64), StoreError> {
        let sql = "WITH standing AS (
                 SELECT record, owner FROM record_references WHERE target = ?1 AND kind = 'service' AND owner <> ?2),
             above AS (
                 SELECT DISTINCT p.record, p.owner FROM standing s
                 JOIN record_references p ON p.target = s.record AND p.kind = 'tool' AND p.type = 'Process'
                 WHERE p.owner <> ?2)
             SELECT (SELECT count(*) FROM above), (SELECT count(*) FROM (
                 SELECT owner FROM standing UNION SELECT owner FROM above) AS users)";
        Ok(self.first(sql, params![&service, &owner], |row| Ok((row.int(0)?, row.int(1)?)))?.unwrap_or_default())
    }

    /// A page of the live records that speak of `target` and that the viewer may see, by id.
    pub fn instances(
        &mut self,
        viewer: &Viewer,
        target: RecordId,
        kind: ReferenceKind,
        whose: OwnershipFilter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Page<Record, RecordId>, StoreError> {
        let owner = self.subject(viewer)?;
        let listed = VisibilityTable { table: "record_references", place: "target = ?2 AND kind = ?3", whose };
        let place = [Value::from(&target), Value::from(kind.as_str())];
        self.page_of(&listed, owner, &place, after, limit)
    }

    /// A few of the live records that speak of `target`, to name them.
    pub fn referring(
        &mut self,
        viewer: &Viewer,
        target: RecordId,
        kind: ReferenceKind,
    ) -> Result<Vec<Record>, StoreError> {
        Ok(self.instances(viewer, target, kind, OwnershipFilter::Both, None, REFERRING_NAMED_MAX)?.rows)
    }

    /// Live records of anybody that speak of `target`, for Skein: what goes with it when it goes.
    pub fn dependents(
        &mut self,
        viewer: &Viewer,
        target: RecordId,
        kind: ReferenceKind,
        limit: usize,
    ) -> Result<Vec<RecordId>, StoreError> {
        system_only(viewer)?;
        let limit = i64::try_from(limit.min(RECORDS_PER_PAGE_MAX)).expect("pages are small");
        let sql = "SELECT record FROM record_references WHERE target = ?1 AND kind = ?2 ORDER BY record LIMIT ?3";
        self.all(sql, params![&target, kind.as_str(), limit], |row| row.array(0).map(RecordId::from_bytes))
    }

    /// The viewer's own binding of a secret to a tool, if they made one (decision Z16).
    pub fn secret_binding(&mut self, viewer: &Viewer, tool: RecordId) -> Result<Option<Record>, StoreError> {
        let owner = self.subject(viewer)?;
        let sql = format!(
            "SELECT {RECORD_COLUMNS} FROM records WHERE id = (SELECT record FROM record_references
             WHERE owner = ?1 AND target = ?2 AND type = 'SecretBinding' AND kind = 'tool')"
        );
        self.first(&sql, params![&owner, &tool], read_record)
    }

    /// Writes where a record of the catalog is listed and what it speaks of; a deleted one leaves all of that, its
    /// sealed value and how it answered. A rotated value goes, no matter who rotated it: restoring a backup tells
    /// the versions again, and finds no value older than the last of them.
    pub(crate) fn project_entry(
        &mut self,
        owner: UserId,
        delta: &Delta,
        content: &RecordContent,
    ) -> Result<(), StoreError> {
        let record = &delta.record;
        if delta.version > 1 {
            self.execute("DELETE FROM record_headings WHERE record = ?1", params![record])?;
            self.execute("DELETE FROM record_references WHERE record = ?1", params![record])?;
        }
        if let Some(version) = value_version(content).filter(|_| delta.version > 1) {
            self.destroy();
            let sql = "DELETE FROM vault WHERE secret = ?1 AND value_version < ?2";
            self.execute(sql, params![record, version])?;
        }
        if content.is_deleted() {
            self.destroy();
            self.execute("DELETE FROM vault WHERE secret = ?1", params![record])?;
            self.execute("DELETE FROM health WHERE record = ?1", params![record])?;
            return Ok(());
        }
        self.project_headings(owner, record, content)?;
        self.project_references(owner, record, content)
    }

    fn project_headings(
        &mut self,
        owner: UserId,
        record: &RecordId,
        content: &RecordContent,
    ) -> Result<(), StoreError> {
        let headings = headings_of(content);
        let rows: Vec<String> = (4..headings.len() + 4).map(|place| format!("(?1, ?{place}, ?2, ?3)")).collect();
        let sql = format!("INSERT INTO record_headings (record, heading, owner, shared) VALUES {}", rows.join(", "));
        let mut bound = params![record, &owner, content.is_open()].to_vec();
        bound.extend(headings.iter().map(Value::from));
        self.execute(&sql, &bound)?;
        Ok(())
    }

    fn project_references(
        &mut self,
        owner: UserId,
        record: &RecordId,
        content: &RecordContent,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO record_references (record, kind, target, owner, type, shared)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let (record_type, shared) = (content.record_type.as_str(), content.is_open());
        for (kind, target) in references_of(content) {
            let inserted = self.execute(sql, params![record, kind.as_str(), &target, &owner, record_type, shared]);
            inserted.map_err(|error| match error {
                SqlError::Unique(_) => StoreError::Exists("a secret bound to this tool".to_owned()),
                error => error.into(),
            })?;
        }
        Ok(())
    }
}
