//! Creates, updates, restores and lists catalog records; lists contain only visible ones.
//!
//! A list is the viewer's own records and those that others share, in the order of ids, from where the last page
//! ended. Each record stands under one heading for every question that lists ask (`list_index.rs`), so a page is read
//! off two indexes, own and shared, however rare the answer and however far down the list. A list of what others share
//! passes over the viewer's own shared records, which costs as much as there are of them.

use std::collections::BTreeSet;

use skein_core::catalog::restore;
use skein_core::catalog::sharing::SharingRefusal;
use skein_core::garden::record::{Act, ChangeNote, Record, RecordContent, RecordType};
use skein_core::{Digest, RecordId, RuleViolation, UserId, Viewer};

use crate::catalog::list_index::{ListQuery, heading};
use crate::catalog::references::{ReferenceKind, references_of};
use crate::db::sql::{Value, params};
use crate::error::StoreError;
use crate::timeline::items::{Page, page};
use crate::timeline::records::{RECORD_COLUMNS, RECORDS_PER_PAGE_MAX, read_record};
use crate::tx::Tx;

/// Whose records a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OwnershipFilter {
    /// The viewer's own, shared or not.
    Own,
    /// What others share.
    SharedByOthers,
    #[default]
    Both,
}

/// Which records of one type to list.
#[derive(Debug, Clone)]
pub struct VisibleQuery {
    pub record_type: RecordType,
    pub whose: OwnershipFilter,
    /// Only of this kind: the type of a service or a secret, of a tool's operation.
    pub kind: Option<String>,
    /// Only what is enabled, or only what is not.
    pub enabled: Option<bool>,
    /// Also archived templates.
    pub include_archived: bool,
    pub after: Option<RecordId>,
    pub limit: usize,
}

impl VisibleQuery {
    /// Everything of a type that is not archived.
    pub fn of(record_type: RecordType, limit: usize) -> Self {
        let (whose, kind, enabled, include_archived, after) = (OwnershipFilter::Both, None, None, false, None);
        Self { record_type, whose, kind, enabled, include_archived, after, limit }
    }
}

impl Tx<'_> {
    /// Creates a record of the catalog in the viewer's own name; what it refers to is there for them.
    pub fn create_entry(
        &mut self,
        viewer: &Viewer,
        content: RecordContent,
        reason: Option<String>,
    ) -> Result<Record, StoreError> {
        let id = RecordId::new(self.id_time(), self.entropy());
        self.create_entry_as(viewer, id, content, reason)
    }

    /// [`Self::create_entry`] under an id that was chosen before, as a caller does that seals a value for it.
    pub fn create_entry_as(
        &mut self,
        viewer: &Viewer,
        id: RecordId,
        content: RecordContent,
        reason: Option<String>,
    ) -> Result<Record, StoreError> {
        refuse_other_records(&content)?;
        for (_, target) in references_of(&content) {
            self.record(viewer, target)?;
        }
        self.create_record_as(viewer, id, viewer.owner(), content, reason)
    }

    /// Changes a record of the catalog from the state with hash `based_on`; what it newly refers to is there for
    /// the viewer.
    pub fn update_entry(
        &mut self,
        viewer: &Viewer,
        id: RecordId,
        based_on: Digest,
        content: RecordContent,
        act: Act,
        reason: Option<String>,
    ) -> Result<Record, StoreError> {
        refuse_other_records(&content)?;
        let current = self.record(viewer, id)?;
        if !viewer.may_write(current.owner) {
            return Err(StoreError::Forbidden);
        }
        let before = references_of(&current.content);
        for (_, target) in references_of(&content).difference(&before) {
            self.record(viewer, *target)?;
        }
        let note = ChangeNote { author: viewer.owner(), reason, act };
        self.commit_change(viewer, id, based_on, content, note)
    }

    /// A record of the viewer's own as it is now, deleted or not, to restore an earlier state of it.
    pub fn record_even_deleted(&mut self, viewer: &Viewer, id: RecordId) -> Result<Record, StoreError> {
        let current = self.past_of(viewer, id)?;
        if viewer.may_write(current.owner) { Ok(current) } else { Err(StoreError::Forbidden) }
    }

    /// Makes a record of the catalog say what it said before, from the state with hash `based_on`; what it newly needs is there
    /// for the viewer. What it was once made from it does not need.
    pub fn restore_entry(
        &mut self,
        viewer: &Viewer,
        id: RecordId,
        based_on: Digest,
        content: RecordContent,
    ) -> Result<Record, StoreError> {
        refuse_other_records(&content)?;
        let current = self.record_even_deleted(viewer, id)?;
        let known = if current.content.is_deleted() { BTreeSet::new() } else { references_of(&current.content) };
        let named = references_of(&content);
        for (kind, target) in named.difference(&known).filter(|(kind, _)| *kind != ReferenceKind::Template) {
            match self.record(viewer, *target) {
                Err(StoreError::NotFound(name)) => {
                    return Err(SharingRefusal::Conflict(restore::missing(kind.as_str(), &name)).into());
                }
                found => drop(found?),
            }
        }
        let act = restore::act(&current.content, &content);
        let note = ChangeNote { author: viewer.owner(), reason: None, act };
        self.commit_change_of(viewer, current, based_on, content, note)
    }

    /// A page of the records a viewer may see.
    pub fn records_visible(
        &mut self,
        viewer: &Viewer,
        query: &VisibleQuery,
    ) -> Result<Page<Record, RecordId>, StoreError> {
        let question =
            ListQuery { kind: query.kind.as_deref(), enabled: query.enabled, only_unarchived: !query.include_archived };
        let Some(heading) = heading(&query.record_type, &question) else {
            return Ok(Page { rows: Vec::new(), next: None });
        };
        let owner = self.subject(viewer)?;
        let listed = VisibilityTable { table: "record_headings", place: "heading = ?2", whose: query.whose };
        let place = [Value::from(&heading)];
        self.page_of(&listed, owner, &place, query.after, query.limit)
    }

    /// A page of the records listed somewhere; `place` are the parameters of the listing from `?2` on.
    pub(crate) fn page_of(
        &mut self,
        listed: &VisibilityTable,
        owner: UserId,
        place: &[Value<'_>],
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Page<Record, RecordId>, StoreError> {
        let limit = limit.clamp(1, RECORDS_PER_PAGE_MAX);
        let after = after.unwrap_or(FIRST);
        let (rows, next) = (place.len() + 2, place.len() + 3);
        let sql = format!(
            "SELECT {RECORD_COLUMNS} FROM ({}) AS listed JOIN records ON records.id = listed.record
             ORDER BY id LIMIT ?{next}",
            listed.sql(rows, next)
        );
        let mut bound = vec![Value::from(&owner)];
        bound.extend_from_slice(place);
        bound.extend_from_slice(params![&after, count(limit + 1)]);
        let rows = self.all(&sql, &bound, read_record)?;
        Ok(page(rows, limit, |last| last.id))
    }
}

const FIRST: RecordId = RecordId::from_bytes([0; 16]);

/// Rows of a table that name records, by owner and by who may see them.
pub(crate) struct VisibilityTable {
    pub(crate) table: &'static str,
    /// Which rows, in terms of parameters from `?2` on.
    pub(crate) place: &'static str,
    pub(crate) whose: OwnershipFilter,
}

impl VisibilityTable {
    /// The records after one, own (`?1`) and shared, each arm read off its own index.
    fn sql(&self, after: usize, limit: usize) -> String {
        let arm = |condition: &str, name: &str| {
            let Self { table, place, .. } = self;
            format!(
                "SELECT record FROM (SELECT record FROM {table} WHERE {place} AND {condition} AND record > ?{after}
                 ORDER BY record LIMIT ?{limit}) AS {name}"
            )
        };
        let own = || arm("owner = ?1", "own");
        let shared = || arm("shared = 1 AND owner <> ?1", "shared_by_others");
        match self.whose {
            OwnershipFilter::Own => own(),
            OwnershipFilter::SharedByOthers => shared(),
            OwnershipFilter::Both => format!("{} UNION {}", own(), shared()),
        }
    }
}

fn count(rows: usize) -> i64 {
    i64::try_from(rows).expect("pages are small")
}

fn refuse_other_records(content: &RecordContent) -> Result<(), RuleViolation> {
    content.refuse_deletion()?;
    if content.record_type.is_catalog_entry() {
        return Ok(());
    }
    let problem = format!("records of type {} are not part of the catalogue", content.record_type);
    Err(RuleViolation::new("MG-CORE-007", problem, "use the act made for it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How SQLite goes about a statement.
    fn plan(sql: &str) -> String {
        let database = crate::db::sqlite::open_scratch().unwrap();
        let mut statement = database.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let unbound = rusqlite::params_from_iter(vec![rusqlite::types::Null; statement.parameter_count()]);
        let steps = statement.query_map(unbound, |row| row.get::<_, String>(3)).unwrap();
        steps.map(Result::unwrap).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn both_arms_of_a_list_are_read_off_their_index_from_where_the_last_page_ended() {
        let headings =
            VisibilityTable { table: "record_headings", place: "heading = ?2", whose: OwnershipFilter::Both };
        let found = plan(&headings.sql(3, 4));
        assert!(found.contains("record_headings_owner (owner=? AND heading=? AND record>?)"), "{found}");
        assert!(found.contains("record_headings_shared (heading=? AND record>?)"), "{found}");
        let references = VisibilityTable {
            table: "record_references",
            place: "target = ?2 AND kind = ?3",
            whose: OwnershipFilter::Both,
        };
        let found = plan(&references.sql(4, 5));
        assert!(found.contains("record_references_owner (target=? AND kind=? AND owner=? AND record>?)"), "{found}");
        assert!(found.contains("record_references_shared (target=? AND kind=? AND record>?)"), "{found}");
    }
}
