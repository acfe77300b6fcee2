//! The one place where a fact becomes rows: every decided and computed table, and the current face of records
//! and relations, is written here and nowhere else.
//!
//! Appending calls [`Tx::project`] in the same transaction; rebuilding calls it for every item in order. That
//! is why a rebuild changes nothing, and why `verify --deep` can tell when something else wrote.

use serde_json::{Map, Value as Json};
use skein_core::garden::cursor::Cursor;
use skein_core::garden::delta::Delta;
use skein_core::garden::item::{Item, ItemType};
use skein_core::garden::record::RecordContent;
use skein_core::garden::redaction::is_redactable;
use skein_core::garden::relation::{RelationDraft, RelationKind, qualities_from_document};
use skein_core::garden::seal::Seal;
use skein_core::{Digest, ItemId, RelationId, RuleViolation, UserId};

use crate::db::sql::{DeferredStatement, Value, params};
use crate::error::{SqlError, StoreError};
use crate::tree::only_adds;
use crate::tx::Tx;

/// The record type of a corrected time (decision M17).
pub(crate) const TIME_OVERRIDE: &str = "TimeOverride";
/// The record type of an API key.
pub const API_KEY: &str = "ApiKey";
/// The record type of a conversation.
pub(crate) const CONVERSATION: &str = "Conversation";

/// No table is made from calls and answers, whose outputs may be raw bytes, nor from what a run was told and gave; what
/// was brought becomes an episode later.
const PLAIN: [ItemType; 9] = [
    ItemType::EPISODE,
    ItemType::TOOL_CALL,
    ItemType::TOOL_RESULT,
    ItemType::TOOL_OUTPUT,
    ItemType::RAW_RESPONSE,
    ItemType::EXECUTION_BEGUN,
    ItemType::EXECUTION_ENDED,
    ItemType::REVIEW_ASKED,
    ItemType::REVIEW_DECIDED,
];

/// Whether what a fact of this type becomes does not depend on where on the timeline it stands.
pub(crate) fn needs_no_place(item_type: &ItemType) -> bool {
    *item_type == ItemType::EXECUTION_MOVED || PLAIN.contains(item_type)
}

impl Tx<'_> {
    /// Writes what `item` says into the tables derived from items.
    pub(crate) fn project(&mut self, item: &Item, cursor: Cursor) -> Result<(), StoreError> {
        let item_type = &item.header.item_type;
        if !item_type.is_system() {
            return Ok(());
        }
        if !only_adds(item_type) {
            self.revise();
        }
        if PLAIN.contains(item_type) {
            return Ok(());
        }
        // What a destroyed payload said about anything went with it.
        if item.payload.is_none() && is_redactable(item_type) {
            return Ok(());
        }
        let unreadable = || StoreError::Damaged(format!("{} is not a readable {item_type}", item.header.id));
        // The most frequent one, and it says what it means by its type alone.
        if *item_type == ItemType::EXECUTION_MOVED {
            return self.project_execution_moved(item)?.ok_or_else(unreadable);
        }
        let Some(document) = item.document() else { return Err(unreadable()) };
        let projected = match item_type {
            t if *t == ItemType::ENTITY_DELTA => self.project_delta(item, &document, cursor),
            t if *t == ItemType::RELATION_CREATED => self.project_relation(item, &document),
            t if *t == ItemType::RELATION_EDITED => self.project_relation_edit(item, &document),
            t if *t == ItemType::RELATION_REMOVED => self.project_relation_removal(item, &document),
            t if *t == ItemType::TOMBSTONE => self.project_mark(item, &document, "tombstone"),
            t if *t == ItemType::REDACTION => self.project_redaction(item, &document),
            t if *t == ItemType::SEAL => self.project_seal(item, &document),
            t if *t == ItemType::SYSTEM_EVENT => self.project_grant(item, &document),
            t if *t == ItemType::BLOB_ATTACHED => self.project_blob(item, &document),
            _ => self.project_tree(item, &document),
        };
        projected?.ok_or_else(unreadable)
    }

    fn project_delta(&mut self, item: &Item, document: &Map<String, Json>, cursor: Cursor) -> ProjectionResult {
        let Some(delta) = Delta::from_document(document) else { return Ok(None) };
        if delta.record_type.as_str() == CONVERSATION {
            self.hold_trees(item.header.owner)?;
        }
        let current = self.find_record(delta.record)?;
        let content = delta.content_after(current.as_ref().map(|record| &record.content))?;
        self.project_record(item, &delta, &content)?;
        self.project_version(item, &delta, cursor)?;
        match delta.record_type.as_str() {
            TIME_OVERRIDE => self.project_time_override(item, &delta, &content),
            API_KEY => self.project_api_key(item, &delta, &content),
            CONVERSATION => self.project_conversation(item, delta.record, &content),
            _ if content.record_type.is_catalog_entry() => {
                self.project_entry(item.header.owner, &delta, &content).map(Some)
            }
            _ => Ok(Some(())),
        }
    }

    fn project_record(&mut self, item: &Item, delta: &Delta, content: &RecordContent) -> Result<(), StoreError> {
        let at = item.header.realized_at;
        let changed = self.execute(
            "INSERT INTO records (id, type, owner, shared, name, version, hash, previous_hash, created_at, updated_at, body,
                 deleted)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?11)
             ON CONFLICT (id) DO UPDATE SET shared = excluded.shared, name = excluded.name, version = excluded.version,
                 hash = excluded.hash, previous_hash = excluded.previous_hash, updated_at = excluded.updated_at,
                 body = excluded.body, deleted = excluded.deleted
             WHERE records.hash = excluded.previous_hash AND records.owner = excluded.owner",
            params![
                &delta.record,
                delta.record_type.as_str(),
                &item.header.owner,
                content.shared,
                content.name(),
                delta.version,
                &delta.commit,
                delta.parent.as_ref(),
                at,
                &content.canonical(),
                content.is_deleted(),
            ],
        );
        match changed {
            Ok(1) => Ok(()),
            Ok(_) => Err(StoreError::Exists(delta.record.to_string())),
            Err(SqlError::Unique(_)) => Err(StoreError::Exists(format!("a {} of that name", delta.record_type))),
            Err(error) => Err(error.into()),
        }
    }

    fn project_version(&mut self, item: &Item, delta: &Delta, cursor: Cursor) -> Result<(), SqlError> {
        self.execute(
            "INSERT INTO record_versions
                 (record, version, owner, type, hash, previous_hash, item, tx, position, realized_at, whole)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                &delta.record,
                delta.version,
                &item.header.owner,
                delta.record_type.as_str(),
                &delta.commit,
                delta.parent.as_ref(),
                &item.header.id,
                cursor.tx,
                cursor.position,
                item.header.realized_at,
                delta.is_whole(),
            ],
        )?;
        Ok(())
    }

    fn project_time_override(&mut self, item: &Item, delta: &Delta, content: &RecordContent) -> ProjectionResult {
        let text = |name: &str| content.data.get(name).and_then(Json::as_str);
        let Some(target) = text("itemId").and_then(|id| id.parse::<ItemId>().ok()) else {
            return Ok(None);
        };
        // Withdrawing a correction leaves the record with no time in it.
        let at = text("canonicalAt").map(str::parse::<skein_core::Millis>);
        let Ok(at) = at.transpose() else { return Ok(None) };
        self.refuse_foreign(item, target)?;
        self.execute(
            "INSERT INTO item_marks (item, owner, canonical_at, override_record) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (item) DO UPDATE SET canonical_at = excluded.canonical_at, override_record = excluded.override_record",
            params![&target, &item.header.owner, at, &delta.record],
        )?;
        Ok(Some(()))
    }

    fn project_api_key(&mut self, item: &Item, delta: &Delta, content: &RecordContent) -> ProjectionResult {
        let text = |name: &str| content.data.get(name).and_then(Json::as_str);
        let key_hash = text("keyHash").and_then(|hash| hash.parse::<Digest>().ok());
        let (Some(key_hash), Some(scope)) = (key_hash, text("scope")) else { return Ok(None) };
        let revoked = content.data.get("revokedAt").is_some_and(Json::is_string);
        self.execute(
            "INSERT INTO api_keys (id, key_hash, owner, scope, revoked) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (id) DO UPDATE SET scope = excluded.scope, revoked = excluded.revoked",
            params![&delta.record, &key_hash, &item.header.owner, scope, revoked],
        )?;
        Ok(Some(()))
    }

    fn project_relation(&mut self, item: &Item, document: &Map<String, Json>) -> ProjectionResult {
        let Some((id, draft)) = RelationDraft::from_document(document) else { return Ok(None) };
        self.insert_relation(item, id, draft, OnConflict::Refuse).map(Some)
    }

    /// Writes the edge that an item makes.
    pub(crate) fn insert_relation(
        &mut self,
        item: &Item,
        id: RelationId,
        draft: RelationDraft,
        if_taken: OnConflict,
    ) -> Result<(), StoreError> {
        let relation = draft.into_relation(id, item.header.realized_at);
        let metadata = Json::Object(relation.qualities.metadata).to_string();
        let sql = match if_taken {
            OnConflict::Refuse => INSERT_RELATION.to_owned(),
            OnConflict::Leave => format!("{INSERT_RELATION} ON CONFLICT DO NOTHING"),
        };
        let values = params![
            &id,
            &item.header.owner,
            relation.kind.as_str(),
            relation.source.kind().as_str(),
            relation.source.id_bytes(),
            relation.target.kind().as_str(),
            relation.target.id_bytes(),
            relation.target.position().map(i64::from),
            relation.qualities.confidence,
            &metadata,
            item.header.realized_at,
            &item.header.id,
        ];
        if if_taken == OnConflict::Leave {
            return self.execute_later(DeferredStatement::new("relations", &sql, values));
        }
        match self.execute(&sql, values) {
            Ok(_) if relation.kind == RelationKind::GroupsWith => {
                self.project_membership(item, relation.source.id_bytes())
            }
            Ok(_) => Ok(()),
            Err(SqlError::Unique(_)) => Err(taken(relation.kind).into()),
            Err(error) => Err(error.into()),
        }
    }

    fn project_relation_edit(&mut self, item: &Item, document: &Map<String, Json>) -> ProjectionResult {
        let Some((id, qualities)) = qualities_from_document(document) else { return Ok(None) };
        let metadata = Json::Object(qualities.metadata).to_string();
        self.execute(
            "UPDATE relations SET confidence = ?2, metadata = ?3 WHERE id = ?1 AND owner = ?4",
            params![&id, qualities.confidence, &metadata, &item.header.owner],
        )?;
        Ok(Some(()))
    }

    fn project_relation_removal(&mut self, item: &Item, document: &Map<String, Json>) -> ProjectionResult {
        let id = document.get("relationId").and_then(Json::as_str).and_then(|id| id.parse::<RelationId>().ok());
        let Some(id) = id else { return Ok(None) };
        let grouped = "SELECT source FROM relations WHERE id = ?1 AND owner = ?2 AND kind = 'groups_with'";
        let source = self.first(grouped, params![&id, &item.header.owner], |row| row.array::<16>(0))?;
        self.execute("DELETE FROM relations WHERE id = ?1 AND owner = ?2", params![&id, &item.header.owner])?;
        if let Some(source) = source {
            self.project_membership(item, &source)?;
        }
        Ok(Some(()))
    }

    fn project_mark(&mut self, item: &Item, document: &Map<String, Json>, column: &str) -> ProjectionResult {
        let target = document.get("itemId").and_then(Json::as_str).and_then(|id| id.parse::<ItemId>().ok());
        let Some(target) = target else { return Ok(None) };
        self.refuse_foreign(item, target)?;
        let sql = format!(
            "INSERT INTO item_marks (item, owner, {column}) VALUES (?1, ?2, ?3)
             ON CONFLICT (item) DO UPDATE SET {column} = excluded.{column}"
        );
        self.execute(&sql, params![&target, &item.header.owner, &item.header.id])?;
        Ok(Some(()))
    }

    /// A fact speaks about its owner's things only, wherever it came from. A rebuild aside has no items to look at.
    pub(crate) fn refuse_foreign(&mut self, item: &Item, target: ItemId) -> Result<(), StoreError> {
        let owner = match self.row_cache.item_owner(target) {
            Some(known) => Some(known),
            None => self.first("SELECT owner FROM items WHERE id = ?1", params![&target], |row| {
                row.array(0).map(UserId::from_bytes)
            })?,
        };
        match owner {
            Some(owner) if owner != item.header.owner => Err(StoreError::Forbidden),
            _ => Ok(()),
        }
    }

    fn project_redaction(&mut self, item: &Item, document: &Map<String, Json>) -> ProjectionResult {
        if self.project_mark(item, document, "redaction")?.is_none() {
            return Ok(None);
        }
        let target = document.get("itemId").and_then(Json::as_str).and_then(|id| id.parse::<ItemId>().ok());
        let target = [Value::from(target.as_ref())];
        self.destroy();
        self.execute("UPDATE items SET payload = NULL WHERE id = ?1", &target)?;
        self.execute("DELETE FROM blobs WHERE item = ?1", &target)?;
        self.execute("DELETE FROM tree_summaries WHERE item = ?1", &target)?;
        self.execute("DELETE FROM embeddings WHERE item = ?1", &target)?;
        Ok(Some(()))
    }

    fn project_seal(&mut self, item: &Item, document: &Map<String, Json>) -> ProjectionResult {
        let Some(seal) = Seal::from_document(item.header.owner, document) else { return Ok(None) };
        let head = &seal.head;
        self.execute(
            "INSERT INTO seals (owner, last_tx, last_position, first_tx, first_position, leaves, root, previous, hash, item)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                &head.owner,
                head.last.tx,
                head.last.position,
                head.first.tx,
                head.first.position,
                head.count,
                &head.root,
                head.previous.as_ref(),
                &head.hash(),
                &item.header.id,
            ],
        )?;
        Ok(Some(()))
    }

    fn project_blob(&mut self, item: &Item, document: &Map<String, Json>) -> ProjectionResult {
        let hash = document.get("hash").and_then(Json::as_str).and_then(|hash| hash.parse::<Digest>().ok());
        let size = document.get("size").and_then(Json::as_i64);
        let media_type = document.get("mediaType").and_then(Json::as_str);
        let (Some(hash), Some(size), Some(media_type)) = (hash, size, media_type) else {
            return Ok(None);
        };
        self.execute(
            "INSERT INTO blobs (item, hash, owner, size, media_type, attached_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![&item.header.id, &hash, &item.header.owner, size, media_type, item.header.realized_at],
        )?;
        Ok(Some(()))
    }
}

/// `None` when the item's document is not what its type promises.
pub(crate) type ProjectionResult = Result<Option<()>, StoreError>;

/// What becomes of an edge whose end has its only one of the kind already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnConflict {
    Refuse,
    /// What is there stays: a fact that must not fail says more than this edge.
    Leave,
}

const INSERT_RELATION: &str =
    "INSERT INTO relations (id, owner, kind, source_type, source, target_type, target, target_position,
         confidence, metadata, realized_at, item)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";

pub(crate) fn taken(kind: RelationKind) -> RuleViolation {
    let problem = format!("one end of this {kind} relation has its only one already");
    RuleViolation::new(kind.cardinality_rule(), problem, "look it up, or choose another kind")
}
