//! People in the loop: what they are asked, what they decide, and what happens when nobody does.

use serde_json::Value;
use skein_core::catalog::sharing::SharingRefusal;
use skein_core::catalog::tool::Tool;
use skein_core::flow::execution::input::{Fault, Input};
use skein_core::flow::execution::item_payload::{review_decided, review_expired};
use skein_core::flow::execution::review::{Decision, ReviewRequest};
use skein_core::flow::process::Process;
use skein_core::{ReviewId, RuleViolation, UserId, Viewer};
use skein_store::flow::{DueReview, ReviewRow, ReviewStatus};
use skein_store::timeline::items::Page;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::load;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::SYSTEM;
use crate::flow::execution::transaction::{ExecutionTransaction, WorkerSlot};
use crate::flow::review::approvals;
use crate::flow::review::delegation::{tell_decided, tell_taken_back};
use crate::jobs::worker_loop::{pause_after, told};
use crate::jobs::worker_pool::{FreeSlots, OfferedPlaces};
use crate::request::{CommittedChange, Outcome, Request, referred};

/// A question with the run it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownReview {
    /// The question.
    pub row: ReviewRow,
    /// The process whose run waits.
    pub process_name: String,
    /// The step that waits.
    pub step_id: String,
    /// Whom its owner asked to decide in their place.
    pub delegate: Option<NamedUser>,
    /// Who decided.
    pub decided_by: Option<NamedUser>,
    /// The name of the process whose nested execution it is about; nothing where it is about none, or once that is gone.
    pub called_process_name: Option<String>,
    /// What whoever decides in the owner's place is told besides.
    pub in_place_of: Option<DelegatedReview>,
}

/// A user as others know them.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedUser {
    /// Who it is.
    pub id: UserId,
    /// What people call them.
    pub name: String,
}

/// Who asks somebody else to decide, and what about: the run and the tool themselves are not shown.
#[derive(Debug, Clone, PartialEq)]
pub struct DelegatedReview {
    /// Whose question it is.
    pub owner: NamedUser,
    /// What the tool is called that would be called; nothing where none is, or once it is gone.
    pub tool_name: Option<String>,
}

impl Outcome for ShownReview {
    fn reference(&self) -> Value {
        serde_json::json!({ "review": self.row.id })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        show(tx, viewer, referred(reference, "review")?)
    }
}

pub(crate) fn show(tx: &mut Tx<'_>, viewer: &Viewer, id: ReviewId) -> Result<ShownReview, StoreError> {
    let row = tx.review(viewer, id)?;
    shown(tx, viewer, row)
}

fn shown(tx: &mut Tx<'_>, viewer: &Viewer, row: ReviewRow) -> Result<ShownReview, StoreError> {
    let run = tx.execution(&SYSTEM, row.run)?;
    let process = tx.record_version(&SYSTEM, run.process, run.process_version)?;
    let step_id = step_id(&process.content.data, row.place.step);
    let delegate = row.delegate.map(|user| named(tx, user)).transpose()?;
    let decided_by = row.decided_by.map(|user| named(tx, user)).transpose()?;
    let called_process_name = called_process_name(tx, &row)?;
    let is_theirs = viewer.may_read(row.owner, tx.now());
    let in_place_of = if is_theirs { None } else { Some(in_place_of(tx, &row)?) };
    Ok(ShownReview {
        row,
        process_name: run.process_name,
        step_id,
        delegate,
        decided_by,
        called_process_name,
        in_place_of,
    })
}

fn called_process_name(tx: &mut Tx<'_>, row: &ReviewRow) -> Result<Option<String>, StoreError> {
    match row.asked.process().map(|process| load::<Process>(tx, &Viewer::User(row.owner), process)) {
        Some(Ok(process)) => Ok(Some(process.entry.name.as_str().to_owned())),
        Some(Err(StoreError::NotFound(_) | StoreError::Refused(_))) | None => Ok(None),
        Some(Err(error)) => Err(error),
    }
}

fn in_place_of(tx: &mut Tx<'_>, row: &ReviewRow) -> Result<DelegatedReview, StoreError> {
    let tool_name = match row.asked.tool().map(|named| load::<Tool>(tx, &Viewer::User(row.owner), named.id)) {
        Some(Ok(tool)) => Some(tool.entry.name.as_str().to_owned()),
        Some(Err(StoreError::NotFound(_) | StoreError::Refused(_))) | None => None,
        Some(Err(error)) => return Err(error),
    };
    Ok(DelegatedReview { owner: named(tx, row.owner)?, tool_name })
}

fn named(tx: &mut Tx<'_>, id: UserId) -> Result<NamedUser, StoreError> {
    match tx.user(&SYSTEM, id) {
        Ok(user) => Ok(NamedUser { id, name: user.content.name().unwrap_or_default().to_owned() }),
        // Whoever decided before their things were moved elsewhere.
        Err(StoreError::NotFound(_)) => Ok(NamedUser { id, name: id.to_string() }),
        Err(error) => Err(error),
    }
}

/// Main steps stand in their order; what stands in for others has its name in the run.
fn step_id(data: &serde_json::Map<String, Value>, step: usize) -> String {
    let named = data.get("steps").and_then(|steps| steps.get(step)).and_then(|step| step.get("id"));
    named.and_then(Value::as_str).map_or_else(|| format!("step {}", step + 1), str::to_owned)
}

impl Engine {
    /// What the caller is asked, oldest first.
    pub async fn reviews(
        &self,
        caller: &Caller,
        only_open: bool,
        after: Option<ReviewId>,
        limit: usize,
    ) -> Result<Page<ShownReview, ReviewId>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            let page = tx.reviews(&viewer, only_open, after, limit)?;
            let rows = page.rows.into_iter().map(|row| shown(tx, &viewer, row)).collect::<Result<_, _>>()?;
            Ok(Page { rows, next: page.next })
        };
        Ok(self.parts().store.read(list).await?)
    }

    /// One question.
    pub async fn review(&self, caller: &Caller, id: ReviewId) -> Result<ShownReview, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| show(tx, &viewer, id)).await?)
    }

    /// Decides; the first decision counts, and the run goes on at once.
    pub async fn decide(
        &self,
        caller: &Caller,
        request: Request,
        id: ReviewId,
        decision: Decision,
    ) -> Result<CommittedChange<ShownReview>, EngineError> {
        self.change_moving(caller, request, "review.decide", move |engine, tx, viewer, slot| {
            let row = tx.review(viewer, id)?;
            row.asked.check_by(&decision, &engine.judge(viewer.owner()))?;
            row.delegation().check_decision(viewer.owner(), &decision)?;
            engine.check_told(tx, viewer, &row, &decision)?;
            let mut execution_tx = ExecutionTransaction::new(engine, tx, slot);
            // The run before its question: whoever ends a run takes its questions in this order, too.
            execution_tx.load(row.run)?;
            check_open(execution_tx.tx, &row)?;
            let decider = viewer.owner();
            if !execution_tx.tx.decide_review(id, decider, &decision)? {
                return Err(already_ended(&row).into());
            }
            // What came of a run is on its owner's timeline, whoever decided.
            execution_tx.tx.append_item(&Viewer::User(row.owner), &review_decided(id, decider, &decision)?)?;
            tell_decided(execution_tx.tx, &row, decider)?;
            if let Some(named) = row.asked.approvable().filter(|_| decision.stands()) {
                approvals::give(execution_tx.tx, viewer, named, id)?;
            }
            let told = decision.clone();
            #[cfg(test)]
            let told = crate::flow::simulation::PlantedBug::ForgottenEdit.without_edits(engine, told);
            execution_tx.push_input(row.run, Input::Decided { place: row.place, decision: told });
            let after = execution_tx.finish()?;
            Ok((show(tx, viewer, id)?, after))
        })
        .await
    }

    /// What somebody says a call came to fits what its tool promises, as if the call had told it.
    fn check_told(
        &self,
        tx: &mut Tx<'_>,
        viewer: &Viewer,
        row: &ReviewRow,
        decision: &Decision,
    ) -> Result<(), StoreError> {
        let (ReviewRequest::Unknown { tool, .. }, Decision::Answer { value }) = (&row.asked, decision) else {
            return Ok(());
        };
        match self.parts().entries.past.load(tx, &SYSTEM, row.owner, *tool) {
            Ok(tool) => self.check_output(viewer.owner(), &tool, value),
            Err(StoreError::NotFound(_) | StoreError::Refused(_) | StoreError::Rule(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Ends questions whose time is over. One that cannot be ended keeps no other waiting.
    pub(crate) async fn expire_reviews(&self) -> Result<(), StoreError> {
        const AT_ONCE: i64 = 64;
        let mut last = None;
        loop {
            let after = last.take();
            let due = self.parts().store.read(move |tx| tx.due_reviews(&SYSTEM, after.as_ref(), AT_ONCE)).await?;
            for due in &due {
                match self.expire_review(due, false).await {
                    Err(error) if pause_after(&error).is_some() => return Err(error),
                    Err(StoreError::NeedsComputation(computation)) => {
                        let late = due.clone();
                        let expire = move |engine: Self| async move { engine.expire_late(&late).await };
                        self.postpone(due.id.to_string(), computation, expire);
                    }
                    Err(error) => self.end_of_review(due, &error).await,
                    Ok(()) => {}
                }
            }
            match due.into_iter().next_back() {
                Some(due) => last = Some(due),
                None => return Ok(()),
            }
        }
    }

    /// Ends a question whose expiry needed a computation.
    async fn expire_late(&self, due: &DueReview) -> Result<(), StoreError> {
        match self.expire_review(due, true).await {
            Err(error) if pause_after(&error).is_none() => {
                self.end_of_review(due, &error).await;
                Ok(())
            }
            expired => expired,
        }
    }

    async fn expire_review(&self, due: &DueReview, waits_for_computations: bool) -> Result<(), StoreError> {
        let (engine, due) = (self.clone(), due.clone());
        let places = OfferedPlaces::new(self.free_slots());
        let offered = places.clone();
        let expire = move |tx: &mut Tx<'_>| {
            offered.to(|slot| {
                let mut execution_tx = ExecutionTransaction::new(&engine, tx, slot);
                let owner = execution_tx.load(due.run)?.row.owner;
                let delegated = execution_tx.tx.delegated_of(due.run)?;
                if execution_tx.tx.expire_review(due.id)? {
                    execution_tx.tx.append_item(&Viewer::User(owner), &review_expired(due.id)?)?;
                    if let Some((review, delegate)) = delegated.into_iter().find(|(review, _)| *review == due.id) {
                        tell_taken_back(execution_tx.tx, review, delegate)?;
                    }
                    execution_tx.push_input(due.run, Input::Expired { place: due.place });
                }
                execution_tx.finish()
            })
        };
        let store = &self.parts().store;
        let expired = if waits_for_computations {
            store.write(expire).await
        } else {
            store.write_without_computing(expire).await
        };
        self.after(expired?.value, places.take());
        Ok(())
    }

    /// A run that cannot be told that nobody decided never goes on: it ends, where the cause does not pass.
    async fn end_of_review(&self, due: &DueReview, error: &StoreError) {
        let run = due.run;
        tracing::warn!(%error, %run, review = %due.id, "a question whose time is over could not be ended");
        if !matches!(error, StoreError::Damaged(_) | StoreError::Panicked(_)) {
            return;
        }
        let (engine, message) = (self.clone(), format!("nobody decided in time, and it cannot go on: {}", told(error)));
        let ended = self.parts().store.write(move |tx| {
            let slot = WorkerSlot::default();
            let mut execution_tx = ExecutionTransaction::new(&engine, tx, &slot);
            let row = execution_tx.tx.locked_execution(&SYSTEM, run);
            execution_tx.end_unread(run, row, Fault::new("review_expired", message.clone()).by_rule("BR-STEP-006"))?;
            execution_tx.finish()
        });
        match ended.await {
            Ok(after) => self.after(after.value, FreeSlots::default()),
            Err(error) => tracing::warn!(%error, %run, "a run that cannot go on could not be ended"),
        }
    }
}

/// Refuses what has ended. Whether its time is over does not depend on who looks when.
pub(crate) fn check_open(tx: &Tx<'_>, row: &ReviewRow) -> Result<(), SharingRefusal> {
    match row.status {
        ReviewStatus::Open if row.expires_at.is_some_and(|expires_at| expires_at <= tx.now()) => Err(too_late()),
        ReviewStatus::Open => Ok(()),
        _ => Err(already_ended(row)),
    }
}

pub(crate) fn already_ended(row: &ReviewRow) -> SharingRefusal {
    let problem = format!("the question is {} already", row.status.as_str());
    SharingRefusal::Conflict(RuleViolation::new("BR-STEP-006", problem, "look at the run: it has gone on"))
}

fn too_late() -> SharingRefusal {
    let problem = "the time in which the question could be answered is over";
    SharingRefusal::Conflict(RuleViolation::new("BR-STEP-006", problem, "look at the run: it goes on as its step says"))
}
