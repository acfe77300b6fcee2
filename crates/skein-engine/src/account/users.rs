//! Users, for administrators: who there is, and what they may do.

use serde_json::{Map, Value, json};
use skein_core::account::Role;
use skein_core::garden::event::EventName;
use skein_core::garden::record::Record;
use skein_core::{Digest, Millis, RuleViolation, UserId, Viewer};
use skein_store::timeline::items::Page;
use skein_store::{StoreError, Tx};

use crate::account::keys::checked_name;
use crate::account::sessions::admit_link;
use crate::account::{Caller, SYSTEM, SignInLink};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Outcome, Request};
use crate::tree::projects::default_project;

/// A user about to be made.
#[derive(Debug, Clone)]
pub struct NewUser {
    /// What people call them.
    pub name: String,
    /// What they may do to the installation.
    pub role: Role,
}

/// What is to change about a user.
#[derive(Debug, Clone)]
pub struct UserChange {
    /// The hash of the state that was looked at.
    pub based_on: Digest,
    /// What people call them from now on.
    pub name: Option<String>,
    /// What they may do from now on.
    pub role: Option<Role>,
}

/// A user as administrators, and the user, see them.
#[derive(Debug, Clone)]
pub struct User {
    /// Who it is.
    pub id: UserId,
    /// What people call them.
    pub name: String,
    /// What they may do to the installation.
    pub role: Role,
    /// When they were made.
    pub created_at: Millis,
    /// To base a change on.
    pub hash: Digest,
    /// How often they were changed, and made.
    pub version: i64,
    /// Lets a new user in, told once.
    pub link: Option<SignInLink>,
}

impl TryFrom<Record> for User {
    type Error = StoreError;

    fn try_from(record: Record) -> Result<Self, StoreError> {
        let role = record.content.data.get("role").cloned().unwrap_or_default();
        let id = UserId::from_bytes(*record.id.as_bytes());
        Ok(Self {
            id,
            name: record.content.name().unwrap_or_default().to_owned(),
            role: serde_json::from_value(role).map_err(|_| StoreError::Damaged(format!("{id} cannot be read")))?,
            created_at: record.created_at,
            hash: record.hash,
            version: record.version,
            link: None,
        })
    }
}

impl Outcome for User {
    fn reference(&self) -> Value {
        json!({ "record": skein_core::RecordId::from(self.id), "version": self.version })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        Record::recall(tx, viewer, reference)?.try_into()
    }
}

impl Engine {
    /// Makes a user and a link for them to sign in with, once.
    pub async fn create_user(
        &self,
        caller: &Caller,
        request: Request,
        new: NewUser,
    ) -> Result<CommittedChange<User>, EngineError> {
        caller.require_admin()?;
        let (name, link) = (checked_name(&new.name)?, crate::account::LinkText::draw());
        self.change_admitted(caller, request, "user.create", move |tx, viewer| {
            let id = tx.create_user_by(&SYSTEM, viewer.owner(), &name, new.role)?;
            tx.tell_own(viewer, EventName::UserCreated, Some(&id.to_string()), told(&name, new.role))?;
            default_project(tx, &Viewer::User(id))?;
            crate::flow::give(tx, &Viewer::User(id))?;
            let link = admit_link(tx, id, &link, crate::account::START_LINK_MS)?;
            Ok(User { link: Some(link), ..tx.user(&SYSTEM, id)?.try_into()? })
        })
        .await
    }

    /// Changes a user's name or role; the last administrator stays one.
    pub async fn change_user(
        &self,
        caller: &Caller,
        request: Request,
        id: UserId,
        change: UserChange,
    ) -> Result<CommittedChange<User>, EngineError> {
        caller.require_admin()?;
        let name = change.name.as_deref().map(checked_name).transpose()?;
        self.change_admitted(caller, request, "user.change", move |tx, viewer| {
            let was_admin = tx.role(&SYSTEM, id)? == Role::Admin;
            if was_admin && change.role == Some(Role::User) && tx.admins(&SYSTEM)? == 1 {
                let remedy = "make another user an administrator first";
                return Err(RuleViolation::new("MG-CORE-007", "this is the last administrator", remedy).into());
            }
            let by = viewer.owner();
            let record = tx.change_user(&SYSTEM, by, id, change.based_on, name.as_deref(), change.role)?;
            let user = User::try_from(record)?;
            // To whoever did it, and to whoever it was done to.
            let mut told = told(&user.name, user.role);
            told.insert("by".to_owned(), json!(by));
            tx.tell_own(viewer, EventName::UserChanged, Some(&id.to_string()), told.clone())?;
            if id != by {
                tx.tell_own(&Viewer::User(id), EventName::UserChanged, Some(&id.to_string()), told)?;
            }
            Ok(user)
        })
        .await
    }

    /// One user: anybody may ask for themselves, administrators for all.
    pub async fn user(&self, caller: &Caller, id: UserId) -> Result<User, EngineError> {
        if id != caller.user {
            caller.require_admin()?;
        }
        Ok(self.parts().store.read(move |tx| tx.user(&SYSTEM, id)?.try_into()).await?)
    }

    /// Every user, page by page.
    pub async fn users(
        &self,
        caller: &Caller,
        after: Option<UserId>,
        limit: usize,
    ) -> Result<Page<User, UserId>, EngineError> {
        caller.require_admin()?;
        let list = move |tx: &mut Tx<'_>| {
            let page = tx.users(&SYSTEM, after, limit)?;
            let rows = page.rows.into_iter().map(User::try_from).collect::<Result<_, _>>()?;
            Ok(Page { rows, next: page.next })
        };
        Ok(self.parts().store.read(list).await?)
    }
}

fn told(name: &str, role: Role) -> Map<String, Value> {
    Map::from_iter([("name".to_owned(), json!(name)), ("role".to_owned(), json!(role))])
}
