//! Answers given before, written out, for as long as nothing was revised since.
//!
//! What is said of one thing follows from who asks and from what is kept, and from nothing else: so the same bytes are
//! given to the same user again until something other than a plain fact is committed. Whether they may ask at all was
//! judged before, by the gate. Where others can commit as well (PostgreSQL), nothing is remembered.

use serde::Serialize;
use skein_core::{ItemId, RecordId, UserId};
use skein_engine::{Caller, RevisionCache};

use crate::http::context::Context;
use crate::http::error::ApiError;
use crate::http::respond::json::JsonBytes;

/// Longer answers are made again each time.
const ANSWER_BYTES_MAX: usize = 8 << 10;

pub(crate) type ResponseCache = RevisionCache<(UserId, CachedResource), JsonBytes>;

/// What an answer is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CachedResource {
    Item(ItemId),
    Tool(RecordId),
}

impl Context {
    /// What was answered when the caller last asked about this, if it still holds, else what `read` gives.
    pub(crate) async fn answer<T: Serialize>(
        &self,
        caller: &Caller,
        thing: CachedResource,
        read: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<JsonBytes, ApiError> {
        // A grant ends by the clock, of which no revision tells.
        let revisions = self.engine.revisions_here().filter(|_| caller.grant.is_none());
        let key = (caller.user, thing);
        if let Some(known) = revisions.and_then(|revisions| self.known_answers.find(revisions, &key)) {
            return Ok(known);
        }
        let written = JsonBytes::of(&read.await?)?;
        if let Some(revisions) = revisions.filter(|_| written.len() <= ANSWER_BYTES_MAX) {
            self.known_answers.remember(revisions, key, written.clone());
        }
        Ok(written)
    }
}
