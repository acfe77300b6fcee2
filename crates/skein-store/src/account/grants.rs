//! Stores grants: an administrator's recorded, reasoned and time-limited read access to one user's content (decision Z23).
//!
//! Giving and ending one are `SystemEvent` items on the timeline of the user who is looked at.

use serde_json::{Map, Value as Json, json};
use skein_core::account::{Grant, GrantDraft};
use skein_core::garden::event::EventName;
use skein_core::garden::item::Item;
use skein_core::{ItemId, Millis, ReferenceField, UserId, Viewer};

use crate::db::sql::{Row, params};
use crate::error::{SqlError, StoreError};
use crate::timeline::items::{Page, page};
use crate::tx::Tx;

const GRANTS_PER_PAGE_MAX: usize = 1_000;

const COLUMNS: &str = "item, owner, admin, name, reason, until, given_at, ended_at";
const SYSTEM: Viewer = Viewer::System("grants");

/// Whose things an administrator may look at.
const LOOKED_AT: ReferenceField = ReferenceField::new("Z34", "ownerId", "user");

/// A grant as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenGrant {
    pub id: ItemId,
    pub owner: UserId,
    pub admin: UserId,
    pub name: String,
    pub reason: String,
    pub until: Millis,
    pub given_at: Millis,
    pub ended_at: Option<Millis>,
}

impl Tx<'_> {
    /// Records that `admin` may read `draft.owner`'s things; whether they are one, the caller has made sure.
    pub fn give_grant(&mut self, admin: &Viewer, draft: &GrantDraft) -> Result<GivenGrant, StoreError> {
        draft.check(admin.owner(), self.now())?;
        self.user(&SYSTEM, draft.owner).map_err(|error| error.of_reference(LOOKED_AT, draft.owner))?;
        let told = Map::from_iter([
            ("adminId".to_owned(), json!(admin.owner())),
            ("name".to_owned(), json!(draft.name)),
            ("reason".to_owned(), json!(draft.reason)),
            ("until".to_owned(), json!(draft.until.to_string())),
        ]);
        let given = self.append_item_for(&SYSTEM, draft.owner, &EventName::GrantGiven.to_draft(None, told))?;
        self.find_grant(given.item.header.id)?.ok_or_else(|| StoreError::Damaged("a grant left no row".to_owned()))
    }

    /// Ends a grant early: its administrator may, and its subject.
    pub fn end_grant(&mut self, viewer: &Viewer, id: ItemId) -> Result<GivenGrant, StoreError> {
        let grant = self.grant(viewer, id)?;
        if grant.ended_at.is_none() {
            let told = Map::from_iter([("by".to_owned(), json!(viewer.owner()))]);
            let draft = EventName::GrantEnded.to_draft(Some(&id.to_string()), told);
            self.append_item_for(&SYSTEM, grant.owner, &draft)?;
        }
        self.grant(viewer, id)
    }

    /// One grant, for its administrator and its subject.
    pub fn grant(&mut self, viewer: &Viewer, id: ItemId) -> Result<GivenGrant, StoreError> {
        let user = viewer.owner();
        let found = self.find_grant(id)?.filter(|grant| grant.owner == user || grant.admin == user);
        found.ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    /// Grants on the viewer's things and grants the viewer holds, newest first.
    pub fn grants(
        &mut self,
        viewer: &Viewer,
        before: Option<ItemId>,
        limit: usize,
    ) -> Result<Page<GivenGrant, ItemId>, StoreError> {
        let limit = limit.clamp(1, GRANTS_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let before = before.unwrap_or(ItemId::from_bytes([255; 16]));
        let sql = format!(
            "SELECT {COLUMNS} FROM grants WHERE (owner = ?1 OR admin = ?1) AND item < ?2 ORDER BY item DESC LIMIT ?3"
        );
        let rows = self.all(&sql, params![&viewer.owner(), &before, one_more], read_grant)?;
        Ok(page(rows, limit, |last| last.id))
    }

    /// What `admin` may see by a grant, if it is theirs and has not ended or run out.
    pub fn grant_held(&mut self, admin: &Viewer, id: ItemId) -> Result<Option<Grant>, StoreError> {
        let now = self.now();
        let held = self
            .find_grant(id)?
            .filter(|grant| grant.admin == admin.owner() && grant.ended_at.is_none() && now < grant.until);
        Ok(held.map(|grant| Grant { item: grant.id, owner: grant.owner, until: grant.until }))
    }

    fn find_grant(&mut self, id: ItemId) -> Result<Option<GivenGrant>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM grants WHERE item = ?1");
        self.first(&sql, params![&id], read_grant)
    }

    /// What a `SystemEvent` says about grants; nothing for all others.
    pub(crate) fn project_grant(
        &mut self,
        item: &Item,
        document: &Map<String, Json>,
    ) -> Result<Option<()>, StoreError> {
        let text = |name: &str| document.get(name).and_then(Json::as_str);
        let at = item.header.realized_at;
        match text("event").and_then(EventName::parse) {
            Some(EventName::GrantGiven) => {
                let admin = text("adminId").and_then(|id| id.parse::<UserId>().ok());
                let until = text("until").and_then(|until| until.parse::<Millis>().ok());
                let (Some(admin), Some(until)) = (admin, until) else { return Ok(None) };
                let (Some(name), Some(reason)) = (text("name"), text("reason")) else { return Ok(None) };
                self.execute(
                    "INSERT INTO grants (item, owner, admin, name, reason, until, given_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    params![&item.header.id, &item.header.owner, &admin, name, reason, until, at],
                )?;
            }
            Some(EventName::GrantEnded) => {
                let Some(grant) = text("subject").and_then(|id| id.parse::<ItemId>().ok()) else { return Ok(None) };
                let sql = "UPDATE grants SET ended_at = ?2 WHERE item = ?1 AND ended_at IS NULL AND owner = ?3";
                self.execute(sql, params![&grant, at, &item.header.owner])?;
            }
            _ => {}
        }
        Ok(Some(()))
    }
}

fn read_grant(row: &dyn Row) -> Result<GivenGrant, SqlError> {
    Ok(GivenGrant {
        id: ItemId::from_bytes(row.array(0)?),
        owner: UserId::from_bytes(row.array(1)?),
        admin: UserId::from_bytes(row.array(2)?),
        name: row.text(3)?.to_owned(),
        reason: row.text(4)?.to_owned(),
        until: Millis(row.int(5)?),
        given_at: Millis(row.int(6)?),
        ended_at: row.optional_int(7)?.map(Millis),
    })
}
