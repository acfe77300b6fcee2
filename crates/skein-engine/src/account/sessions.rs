//! Signing a browser in by a one-time link, and out again, here or from elsewhere.

use serde_json::{Map, Value, json};
use skein_core::garden::event::EventName;
use skein_core::{Digest, Millis, SessionId, UserId, Viewer};
use skein_store::account::sessions::{OpenSession, session_id};
use skein_store::timeline::items::Page;
use skein_store::{StoreError, Tx};

use crate::account::{Caller, Credential, LinkText, SYSTEM, SessionText, User, widest};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Outcome, Request, WholeOutcome, referred};

/// How long a browser stays signed in: thirty days.
pub const SESSION_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
/// How long the link printed at a start, or made for a new user, can be used: a day.
pub const START_LINK_MS: i64 = 24 * 60 * 60 * 1_000;
/// How long a link that was asked for can be used: ten minutes.
pub(super) const LINK_MS: i64 = 10 * 60 * 1_000;

/// A link that signs a browser in, once.
#[derive(Debug, Clone)]
pub struct SignInLink {
    /// What it carries, told once.
    pub text: Option<LinkText>,
    /// Until when it can be used.
    pub expires_at: Millis,
}

impl Outcome for SignInLink {
    fn reference(&self) -> Value {
        json!({ "expiresAt": self.expires_at })
    }

    fn recall(_: &mut Tx<'_>, _: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        Ok(Self { text: None, expires_at: referred(reference, "expiresAt")? })
    }
}

/// A browser that has just signed in.
#[derive(Debug, Clone)]
pub struct SignedInBrowser {
    /// What its cookie carries.
    pub session: SessionText,
    /// Who it acts for.
    pub user: UserId,
}

/// A signed-in browser, as its person sees it from anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionView {
    /// To end it by.
    pub id: SessionId,
    /// When it was signed in.
    pub started_at: Millis,
    /// Until when it stays signed in.
    pub expires_at: Millis,
    /// Whether it is the one that asks.
    pub is_current: bool,
}

pub(crate) fn admit_link(
    tx: &mut Tx<'_>,
    user: UserId,
    link: &LinkText,
    lasts_ms: i64,
) -> Result<SignInLink, StoreError> {
    let expires_at = tx.now().plus(lasts_ms);
    tx.admit_link(&SYSTEM, user, link.hash(), expires_at)?;
    Ok(SignInLink { text: Some(link.clone()), expires_at })
}

impl Engine {
    /// A link for the first administrator, to print at a start.
    pub async fn start_link(&self) -> Result<LinkText, EngineError> {
        let (admin, link) = (self.ensure_first_admin().await?, LinkText::draw());
        let kept = link.clone();
        self.parts().store.write(move |tx| admit_link(tx, admin, &kept, START_LINK_MS).map(drop)).await?;
        Ok(link)
    }

    /// A link that signs the caller in at a browser.
    pub async fn create_link(
        &self,
        caller: &Caller,
        request: Request,
    ) -> Result<CommittedChange<SignInLink>, EngineError> {
        // A browser may do whatever its user's role lets them: a narrower credential must not become one.
        caller.require(widest(caller.role))?;
        if let Some(ends_at) = caller.credential.key_ends_at() {
            return Err(EngineError::SessionOutlivesMaker(ends_at));
        }
        let link = LinkText::draw();
        let user = caller.user;
        self.change_admitted(caller, request, "session.link", move |tx, viewer| {
            tx.tell_own(viewer, EventName::LinkMade, None, Map::new())?;
            admit_link(tx, user, &link, LINK_MS)
        })
        .await
    }

    /// A link for another user, for whoever has the machine itself: a way back in for somebody who lost every key and
    /// session, or was brought in by a bundle. It is told on that user's timeline.
    pub async fn create_link_for(
        &self,
        caller: &Caller,
        request: Request,
        user: UserId,
    ) -> Result<CommittedChange<SignInLink>, EngineError> {
        if caller.credential != Credential::Start {
            return Err(EngineError::OnlyHere);
        }
        let (link, by) = (LinkText::draw(), caller.user);
        self.change_admitted(caller, request, "session.link", move |tx, _| {
            tx.user(&SYSTEM, user)?;
            let told = Map::from_iter([("by".to_owned(), json!(by))]);
            tx.tell_own(&Viewer::User(user), EventName::LinkMade, None, told)?;
            admit_link(tx, user, &link, START_LINK_MS)
        })
        .await
    }

    /// Exchanges a link for a session, once.
    pub async fn sign_in(&self, link: &LinkText) -> Result<SignedInBrowser, EngineError> {
        let (link, session) = (link.hash(), SessionText::draw());
        let token = session.hash();
        let redeem = move |tx: &mut Tx<'_>| {
            let Some(signed_in) = tx.redeem_link(&SYSTEM, link, token, SESSION_MS)? else { return Ok(None) };
            let user = Viewer::User(signed_in.user);
            tx.tell_own(&user, EventName::SessionStarted, Some(&session_id(token).to_string()), Map::new())?;
            Ok(Some(signed_in.user))
        };
        let user = self.parts().store.write(redeem).await?.value.ok_or(EngineError::UnknownCredential)?;
        Ok(SignedInBrowser { session, user })
    }

    /// Whom a link signs in: looking does not use it up.
    pub async fn link_user(&self, link: &LinkText) -> Result<User, EngineError> {
        let link = link.hash();
        let look = move |tx: &mut Tx<'_>| {
            let Some(user) = tx.link_holder(&SYSTEM, link)? else { return Ok(None) };
            tx.user(&SYSTEM, user)?.try_into().map(Some)
        };
        self.parts().store.read(look).await?.ok_or(EngineError::UnknownCredential)
    }

    /// The caller's browsers that are signed in, page by page.
    pub async fn sessions(
        &self,
        caller: &Caller,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Page<SessionView, SessionId>, EngineError> {
        let (viewer, asking) = (caller.acting(), caller.credential);
        let page = self.parts().store.read(move |tx| tx.sessions(&viewer, after, limit)).await?;
        let view = |session: OpenSession| {
            let is_current = asking == Credential::Session(session.token);
            let OpenSession { started_at, expires_at, .. } = session;
            SessionView { id: session.id(), started_at, expires_at, is_current }
        };
        Ok(Page { rows: page.rows.into_iter().map(view).collect(), next: page.next })
    }

    /// Signs out a browser of the caller's, whichever it is.
    pub async fn end_session(
        &self,
        caller: &Caller,
        request: Request,
        id: SessionId,
    ) -> Result<CommittedChange<WholeOutcome<bool>>, EngineError> {
        self.change(caller, request, "session.end", move |tx, viewer| {
            tx.end_session_named(viewer, id)?;
            tx.tell_own(viewer, EventName::SessionEnded, Some(&id.to_string()), Map::new())?;
            Ok(WholeOutcome(true))
        })
        .await
    }

    /// Signs the caller's browser out.
    pub async fn sign_out(
        &self,
        caller: &Caller,
        request: Request,
    ) -> Result<CommittedChange<WholeOutcome<bool>>, EngineError> {
        let token: Option<Digest> = match caller.credential {
            Credential::Session(token) => Some(token),
            Credential::Key { .. } | Credential::Start | Credential::Token { .. } => None,
        };
        let token = token.ok_or(EngineError::NotABrowser)?;
        self.change(caller, request, "session.end", move |tx, viewer| {
            tx.end_session(viewer, token)?;
            tx.tell_own(viewer, EventName::SessionEnded, Some(&session_id(token).to_string()), Map::new())?;
            Ok(WholeOutcome(true))
        })
        .await
    }
}
