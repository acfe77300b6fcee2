//! Asking somebody else to decide: a question is put into another's hands and taken back, and both are told.

use serde_json::{Map, json};
use skein_core::flow::delegation::nobody_found;
use skein_core::garden::event::EventName;
use skein_core::{ExecutionId, ReviewId, UserId, Viewer};
use skein_store::flow::ReviewRow;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::SYSTEM;
use crate::flow::execution::transaction::ExecutionTransaction;
use crate::flow::review::decisions::{ShownReview, already_ended, check_open, show};
use crate::request::{CommittedChange, Request};

/// Who is to decide in the owner's place. Only administrators see who there is, so that others know people by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delegate {
    /// By their id.
    User(UserId),
    /// By the whole of their name, where only one is called so.
    Named(String),
    /// The owner alone, again.
    Nobody,
}

impl Engine {
    /// Asks somebody to decide in the owner's place, or takes that back; the owner may decide all the same.
    pub async fn delegate_review(
        &self,
        caller: &Caller,
        request: Request,
        id: ReviewId,
        to: Delegate,
    ) -> Result<CommittedChange<ShownReview>, EngineError> {
        self.change(caller, request, "review.delegate", move |tx, viewer| {
            let row = tx.review(viewer, id)?;
            // Users are looked up last: any later refusal would tell that there is such a user, who hears nothing of it.
            row.delegation().check_asking(viewer.owner(), None)?;
            // The run before its question: whoever ends a run takes its questions in this order, too.
            tx.locked_execution(&SYSTEM, row.run)?;
            check_open(tx, &row)?;
            let to = found(tx, &to)?;
            row.delegation().check_asking(viewer.owner(), to)?;
            if row.delegate != to {
                if !tx.delegate_review(id, to)? {
                    return Err(already_ended(&row).into());
                }
                tell_hands(tx, &row, to)?;
            }
            show(tx, viewer, id)
        })
        .await
    }
}

fn found(tx: &mut Tx<'_>, to: &Delegate) -> Result<Option<UserId>, StoreError> {
    match to {
        Delegate::Nobody => Ok(None),
        Delegate::Named(name) => Ok(Some(tx.user_named(&SYSTEM, name)?.ok_or_else(nobody_found)?)),
        Delegate::User(user) => match tx.user(&SYSTEM, *user) {
            Ok(_) => Ok(Some(*user)),
            Err(StoreError::NotFound(_)) => Err(nobody_found().into()),
            Err(error) => Err(error),
        },
    }
}

/// Tells everybody whose hands a question leaves or comes into, and its owner.
fn tell_hands(tx: &mut Tx<'_>, row: &ReviewRow, to: Option<UserId>) -> Result<(), StoreError> {
    let (owner, subject) = (row.owner, row.id.to_string());
    if let Some(before) = row.delegate {
        tell_taken_back(tx, row.id, before)?;
        if to.is_none() {
            let told = Map::from_iter([("from".to_owned(), json!(before))]);
            tx.tell_own(&Viewer::User(owner), EventName::ReviewTakenBack, Some(&subject), told)?;
        }
    }
    if let Some(to) = to {
        for user in [owner, to] {
            let told = Map::from_iter([("by".to_owned(), json!(owner)), ("to".to_owned(), json!(to))]);
            tx.tell_own(&Viewer::User(user), EventName::ReviewDelegated, Some(&subject), told)?;
        }
    }
    Ok(())
}

/// Tells somebody that a question is not theirs to decide any more.
pub(crate) fn tell_taken_back(tx: &mut Tx<'_>, review: ReviewId, delegate: UserId) -> Result<(), StoreError> {
    let subject = review.to_string();
    tx.tell_own(&Viewer::User(delegate), EventName::ReviewTakenBack, Some(&subject), Map::new())
}

/// Tells whoever was asked to decide in the owner's place what became of it.
pub(crate) fn tell_decided(tx: &mut Tx<'_>, row: &ReviewRow, decider: UserId) -> Result<(), StoreError> {
    match row.delegate {
        None => Ok(()),
        Some(delegate) if delegate != decider => tell_taken_back(tx, row.id, delegate),
        // The owner is told by the fact itself.
        Some(delegate) => {
            let subject = row.id.to_string();
            tx.tell_own(&Viewer::User(delegate), EventName::ReviewDecided, Some(&subject), Map::new())
        }
    }
}

impl ExecutionTransaction<'_, '_> {
    /// Takes back what a run asked and nobody decided.
    pub(crate) fn withdraw_reviews(&mut self, run: ExecutionId) -> Result<(), StoreError> {
        for (review, delegate) in self.tx.delegated_of(run)? {
            tell_taken_back(self.tx, review, delegate)?;
        }
        self.tx.withdraw_reviews(run)
    }
}
