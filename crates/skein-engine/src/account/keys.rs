//! API keys: made, shown once, listed, revoked. One may expire by itself.

use serde_json::{Map, Value, json};
use skein_core::account::Scope;
use skein_core::account::expiry::{check_expiry, is_expired, outlives};
use skein_core::garden::event::EventName;
use skein_core::garden::record::{Record, RecordType};
use skein_core::{KeyId, Millis, RecordId, RuleViolation, Viewer};
use skein_store::account::users::{API_KEY, key_expiry};
use skein_store::timeline::items::Page;
use skein_store::{StoreError, Tx};

use crate::account::sessions::LINK_MS;
use crate::account::{Caller, KeyText};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Outcome, Request, referred};

/// A key about to be made.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// For its owner to know it by.
    pub name: String,
    /// What it may be used for.
    pub scope: Scope,
    /// When it stops counting; without a time, only when it is revoked.
    pub expires_at: Option<Millis>,
}

/// A key as its owner sees it.
#[derive(Debug, Clone)]
pub struct KeyView {
    /// To revoke it by.
    pub id: KeyId,
    /// What its owner calls it.
    pub name: String,
    /// What it may be used for.
    pub scope: Scope,
    /// When it was made.
    pub created_at: Millis,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Millis>,
    /// When it stops counting; without a time, only when it is revoked.
    pub expires_at: Option<Millis>,
    /// Whether that moment has passed.
    pub is_expired: bool,
    /// When it was ended.
    pub revoked_at: Option<Millis>,
    /// The key itself, told once.
    pub text: Option<KeyText>,
}

impl Outcome for KeyView {
    fn reference(&self) -> Value {
        json!({ "key": self.id })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        key_view(tx, viewer, referred(reference, "key")?)
    }
}

impl Engine {
    /// Makes a key of the caller's, which may do no more than the credential that asks for it and not outlive it.
    pub async fn create_key(
        &self,
        caller: &Caller,
        request: Request,
        new: NewKey,
    ) -> Result<CommittedChange<KeyView>, EngineError> {
        caller.require(new.scope)?;
        let ends_at = caller.credential.key_ends_at();
        if let Some(ends_at) = ends_at.filter(|_| outlives(new.expires_at, ends_at)) {
            return Err(EngineError::KeyOutlivesMaker(ends_at));
        }
        let text = KeyText::draw();
        let name = checked_name(&new.name)?;
        self.change_admitted(caller, request, "key.create", move |tx, viewer| {
            check_expiry(new.expires_at, tx.now())?;
            let id = tx.create_key_until(viewer, &name, new.scope, text.hash(), new.expires_at)?;
            let told = told(&name, new.scope, new.expires_at);
            tx.tell_own(viewer, EventName::KeyCreated, Some(&id.to_string()), told)?;
            Ok(KeyView { text: Some(text.clone()), ..key_view(tx, viewer, id)? })
        })
        .await
    }

    /// Ends a key of the caller's, and every link they asked for that nobody used.
    pub async fn revoke_key(
        &self,
        caller: &Caller,
        request: Request,
        id: KeyId,
    ) -> Result<CommittedChange<KeyView>, EngineError> {
        self.change(caller, request, "key.revoke", move |tx, viewer| {
            let before = key_view(tx, viewer, id)?;
            if before.revoked_at.is_none() {
                tx.revoke_key(viewer, id)?;
                // Whoever had the key may have asked for a link with it.
                tx.end_links(viewer, LINK_MS)?;
                let told = told(&before.name, before.scope, before.expires_at);
                tx.tell_own(viewer, EventName::KeyRevoked, Some(&id.to_string()), told)?;
            }
            key_view(tx, viewer, id)
        })
        .await
    }

    /// The caller's keys, page by page.
    pub async fn keys(
        &self,
        caller: &Caller,
        after: Option<KeyId>,
        limit: usize,
    ) -> Result<Page<KeyView, KeyId>, EngineError> {
        let viewer = caller.acting();
        let list = move |tx: &mut Tx<'_>| {
            let record_type = RecordType::parse(API_KEY)?;
            let after = after.map(|key| RecordId::from_bytes(*key.as_bytes()));
            let page = tx.records(&viewer, &record_type, after, limit)?;
            let rows = page.rows.iter().map(|record| with_use(tx, &viewer, record)).collect::<Result<_, _>>()?;
            Ok(Page { rows, next: page.next.map(|id| KeyId::from_bytes(*id.as_bytes())) })
        };
        Ok(self.parts().store.read(list).await?)
    }
}

fn told(name: &str, scope: Scope, expires_at: Option<Millis>) -> Map<String, Value> {
    let named = [("name".to_owned(), json!(name)), ("scope".to_owned(), json!(scope))];
    named.into_iter().chain(expires_at.map(|at| ("expiresAt".to_owned(), json!(at)))).collect()
}

/// A name that can be shown in a list.
pub(crate) fn checked_name(name: &str) -> Result<String, EngineError> {
    let name = name.trim();
    if (1..=100).contains(&name.chars().count()) && !name.chars().any(char::is_control) {
        return Ok(name.to_owned());
    }
    let remedy = "give 1 to 100 visible characters";
    Err(StoreError::Rule(RuleViolation::new("MG-CORE-007", "this name cannot be shown in a list", remedy)).into())
}

fn key_view(tx: &mut Tx<'_>, viewer: &Viewer, id: KeyId) -> Result<KeyView, StoreError> {
    let not_found = || StoreError::NotFound(id.to_string());
    let record = tx.record(viewer, RecordId::from_bytes(*id.as_bytes())).map_err(|error| match error {
        StoreError::NotFound(_) => not_found(),
        other => other,
    })?;
    if record.content.record_type.as_str() != API_KEY || !viewer.may_write(record.owner) {
        return Err(not_found());
    }
    with_use(tx, viewer, &record)
}

fn with_use(tx: &mut Tx<'_>, viewer: &Viewer, record: &Record) -> Result<KeyView, StoreError> {
    let id = KeyId::from_bytes(*record.id.as_bytes());
    let field = |name: &str| record.content.data.get(name).cloned().unwrap_or_default();
    let unreadable = |_| StoreError::Damaged(format!("{id} cannot be read"));
    let expires_at = key_expiry(&record.content);
    let expires_at = expires_at.ok_or_else(|| StoreError::Damaged(format!("the end of {id} cannot be read")))?;
    Ok(KeyView {
        id,
        name: record.content.name().unwrap_or_default().to_owned(),
        scope: serde_json::from_value(field("scope")).map_err(unreadable)?,
        created_at: record.created_at,
        last_used_at: tx.key_last_used(viewer, id)?,
        expires_at,
        is_expired: is_expired(expires_at, tx.now()),
        revoked_at: serde_json::from_value(field("revokedAt")).map_err(unreadable)?,
        text: None,
    })
}
