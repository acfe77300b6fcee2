//! Begins an execution: authorization, inputs and the first calls.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use skein_core::flow::execution::input::{CallSite, Input};
use skein_core::flow::execution::item_payload::{ExecutionBegun, OutputTarget, Trigger};
use skein_core::flow::execution::state::Execution;
use skein_core::tree::rollback::PriorState;
use skein_core::{ExecutionId, ItemId, Millis, OperationId, RecordId, RuleViolation, UserId, Viewer};
use skein_store::flow::{NewExecution, StepRow};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::execution::transaction::{ExecutionTransaction, LoadedExecution, PostCommit, WorkerSlot};
use crate::flow::process::plan_cache::ReadyProcess;
use crate::jobs::worker_pool::OfferedPlaces;
use crate::request::{CommittedChange, Isolation, Outcome, Request};

/// The kind of an operation that runs a process.
pub(crate) const EXECUTION: &str = "process.execute";

/// A run to be started.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExecutionRequest {
    /// What it is given.
    pub context: Map<String, Value>,
    /// Higher comes first among the caller's own.
    pub priority: i64,
}

/// All that a run begins with.
#[derive(Debug, Clone)]
pub(crate) struct ExecutionStart {
    pub(crate) owner: UserId,
    pub(crate) process: RecordId,
    pub(crate) context: Map<String, Value>,
    pub(crate) parent: Option<(ExecutionId, CallSite)>,
    /// What the run above has left, and its stack.
    pub(crate) above: Option<(u8, Vec<String>)>,
    pub(crate) target: Option<OutputTarget>,
    /// What the request changed in the target's conversation, as it was before.
    pub(crate) prior: PriorState,
    pub(crate) session: Option<ExecutionId>,
    pub(crate) cause: Option<ItemId>,
    pub(crate) operation: Option<OperationId>,
    pub(crate) priority: i64,
    /// Since when the run above is paused: what it starts waits with it.
    pub(crate) paused_at: Option<Millis>,
    /// The run whose steps it takes over, at which version, and those steps.
    pub(crate) branch: Option<Branch>,
}

/// What a run takes over from an earlier one.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub(crate) from: ExecutionId,
    pub(crate) process_version: i64,
    pub(crate) steps: Vec<StepRow>,
    /// What a person put in place of what they gave.
    pub(crate) outputs: Map<String, Value>,
}

impl Default for ExecutionStart {
    fn default() -> Self {
        Self {
            owner: UserId::SYSTEM,
            process: RecordId::from_bytes([0; 16]),
            context: Map::new(),
            parent: None,
            above: None,
            target: None,
            prior: PriorState::default(),
            session: None,
            cause: None,
            operation: None,
            priority: 0,
            paused_at: None,
            branch: None,
        }
    }
}

impl Engine {
    /// Runs a process; the operation ends with the run.
    pub async fn execute(
        &self,
        caller: &Caller,
        request: Request,
        process: RecordId,
        new: ExecutionRequest,
    ) -> Result<CommittedChange<ExecutionId>, EngineError> {
        self.start(caller, request, EXECUTION, Isolation::ByLocks, move |_, viewer, operation| {
            Ok(ExecutionStart {
                owner: viewer.owner(),
                process,
                context: new.context.clone(),
                operation: Some(operation),
                priority: new.priority,
                ..ExecutionStart::default()
            })
        })
        .await
    }

    /// Starts a run whose operation is queued; a repeat of the request finds the same run.
    pub(crate) async fn start(
        &self,
        caller: &Caller,
        request: Request,
        kind: &'static str,
        apart: Isolation,
        mut beginning: impl FnMut(&mut Tx<'_>, &Viewer, OperationId) -> Result<ExecutionStart, StoreError> + Send + 'static,
    ) -> Result<CommittedChange<ExecutionId>, EngineError> {
        let (engine, places) = (self.clone(), OfferedPlaces::new(self.free_slots()));
        let offered = places.clone();
        let started = self.queue_with(caller, request, kind, apart, move |tx, viewer, operation| {
            offered.to(|slot| {
                let beginning = beginning(tx, viewer, operation)?;
                let mut execution_tx =
                    ExecutionTransaction::new(&engine, tx, slot).locking(apart == Isolation::ByLocks);
                let run = execution_tx.begin(beginning)?;
                execution_tx.push_input(run, Input::Begin);
                Ok((run, execution_tx.finish()?))
            })
        });
        let started = started.await?;
        let CommittedChange { value, operation, cursor, is_replay } = started;
        let run = match value {
            Some((run, after)) => {
                self.after(after, places.take());
                run
            }
            None => self.run_of(caller, operation).await?,
        };
        Ok(CommittedChange { value: run, operation, cursor, is_replay })
    }

    /// Makes a change that moves runs, and does what the move asked for once it is committed; a repeat asks for nothing.
    pub(crate) async fn change_moving<T: Outcome>(
        &self,
        caller: &Caller,
        request: Request,
        kind: &'static str,
        mut change: impl FnMut(&Self, &mut Tx<'_>, &Viewer, &WorkerSlot) -> Result<(T, PostCommit), StoreError>
        + Send
        + 'static,
    ) -> Result<CommittedChange<T>, EngineError> {
        let (engine, post_commit) = (self.clone(), Arc::new(Mutex::new(None)));
        let places = OfferedPlaces::new(self.free_slots());
        let (offered, kept) = (places.clone(), Arc::clone(&post_commit));
        let changed = self.change(caller, request, kind, move |tx, viewer| {
            let (value, after) = offered.to(|slot| change(&engine, tx, viewer, slot))?;
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(after);
            Ok(value)
        });
        let changed = changed.await?;
        let after = post_commit.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(after) = after.filter(|_| !changed.is_replay) {
            self.after(after, places.take());
        }
        Ok(changed)
    }

    /// Does what a committed move asked for.
    pub(crate) fn after(&self, after: PostCommit, places: crate::jobs::worker_pool::FreeSlots) {
        let parts = self.parts();
        for run in after.withdrawn {
            parts.worker_pool.break_off(run);
        }
        for ended in after.ended {
            parts.streams.end_of(&ended);
        }
        if after.queued {
            parts.worker_pool.wake();
        }
        crate::jobs::worker_loop::take_up(self, after.handed, places);
    }
}

impl ExecutionTransaction<'_, '_> {
    /// Writes a run down that has not moved yet. Refuses processes that may not be run, and contexts that do not fit.
    pub(crate) fn begin(&mut self, beginning: ExecutionStart) -> Result<ExecutionId, StoreError> {
        let viewer = Viewer::User(beginning.owner);
        let current = self.runnable(beginning.owner, beginning.process)?;
        let ready = match &beginning.branch {
            Some(branch) => self.engine.parts().plans.of(self.tx, beginning.process, branch.process_version)?,
            None => Arc::clone(&current),
        };
        let version = ready.edition.version;
        let context = ready.process.initial_context.with_defaults(beginning.context);
        let judge = self.engine.judge(beginning.owner);
        ready.process.initial_context.check_values_by(&context, &judge)?;
        let trigger = match beginning.parent {
            Some((run_id, place)) => Trigger::Run { run_id, place },
            None => Trigger::Person { user_id: beginning.owner },
        };
        let begun = ExecutionBegun {
            process_id: beginning.process,
            process_version: version,
            context: context.clone(),
            trigger,
            target: beginning.target,
            prior: beginning.prior,
            branched_from: beginning.branch.as_ref().map(|branch| branch.from),
            branched_with: beginning.branch.as_ref().map(|branch| branch.outputs.clone()).unwrap_or_default(),
        };
        if self.is_locking {
            // Whoever deletes it meanwhile has to see this run.
            self.relied_on.push((beginning.process, current.edition.hash));
        }
        let drawn = self.tx.draw_item(&viewer, begun.to_draft()?)?;
        let item = drawn.id();
        self.tx.append_drawn(vec![drawn])?;
        let run = ExecutionId::from_bytes(*item.as_bytes());
        let above = beginning.above.as_ref().map(|(left, stack)| (*left, stack.as_slice()));
        let state = Execution::of(&ready.process, &ready.plan, context, above);
        let new = NewExecution {
            id: run,
            owner: beginning.owner,
            process: beginning.process,
            process_version: version,
            process_name: ready.process.name.as_str().to_owned(),
            parent: beginning.parent,
            target: beginning.target,
            session: beginning.session.unwrap_or(run),
            cause: beginning.cause.unwrap_or(item),
            operation: beginning.operation,
            branched_from: begun.branched_from,
            priority: beginning.priority,
            paused_at: beginning.paused_at,
        };
        let row = self.tx.insert_execution(new, &state)?;
        if row.session == run {
            self.sequences.insert(run, None);
        }
        let mut loaded = LoadedExecution::new(row, state, ready, BTreeMap::new());
        for taken in beginning.branch.into_iter().flat_map(|branch| branch.steps) {
            loaded.state.steps[taken.step] = taken.state.clone();
            let step = taken.step;
            *loaded.touch(step) = taken;
        }
        self.keep(loaded);
        Ok(run)
    }

    /// A process that may be run by somebody now (rules BR-PROCESS-010, BR-CROSS-001).
    pub(crate) fn runnable(&mut self, by: UserId, process: RecordId) -> Result<Arc<ReadyProcess>, StoreError> {
        let ready = self.engine.parts().plans.own(self.tx, &Viewer::User(by), process)?;
        let refuse = |problem: &str, remedy| Err(RuleViolation::new("BR-CROSS-001", problem, remedy).into());
        if ready.process.archived {
            return refuse("the process is archived", "restore it, or run another");
        }
        if !ready.process.enabled {
            return refuse("the process is disabled", "enable it first");
        }
        Ok(ready)
    }
}
