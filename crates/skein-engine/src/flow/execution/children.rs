//! Runs that runs start: for a step that calls a process, or for a tool in front of one. Neither holds a worker while it
//! waits (decision X10).

use serde_json::{Map, Value, json};
use skein_core::catalog::operation::Operation;
use skein_core::catalog::tool::Tool;
use skein_core::flow::cost::CostTotals;
use skein_core::flow::execution::input::{CallSite, Fault, Input};
use skein_core::flow::execution::item_payload::ExecutionEnded;
use skein_core::flow::execution::state::Phase;
use skein_core::flow::tool_call::{CallStatus, ToolResult};
use skein_core::{ExecutionId, ItemId, RecordId};
use skein_store::StoreError;

use crate::catalog::StoredEntry;
use crate::flow::SYSTEM;
use crate::flow::execution::begin::ExecutionStart;
use crate::flow::execution::transaction::ExecutionTransaction;
use crate::tool_call::authorize::{nothing, storable};
use crate::tool_call::builtin_tools::{self, RUN_PROCESS};
use crate::tool_call::dependencies::CallDependencies;
use crate::tool_call::execute::CallResponse;

/// Most runs that one transaction moves: a process whose steps start processes without end must not hold everybody up.
const RUNS_AT_ONCE_MAX: usize = 100;
/// Most runs that one run may lead to, through all that it starts: depth alone does not bound how many there are.
const RUNS_IN_ALL_MAX: usize = 1_000;

impl ExecutionTransaction<'_, '_> {
    /// Starts the run of a step that calls a process.
    pub(crate) fn start_child(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        process: RecordId,
        context: Map<String, Value>,
    ) -> Result<(), StoreError> {
        let cause = self.load(run)?.cause_of(place.step);
        match self.begin_child(run, place, process, context, cause)? {
            Ok(child) => self.push_input(child, Input::Begin),
            Err(fault) => self.push_input(run, Input::ChildEnded { place, outcome: Err(fault), tokens: 0 }),
        }
        Ok(())
    }

    /// Starts the run behind a tool that stands in front of a process: a call like any other, judged and written down.
    pub(crate) fn start_disguised(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        base: CallDependencies,
        inputs: &Map<String, Value>,
    ) -> Result<(), StoreError> {
        let Operation::McpTool(call) = base.tool.entry.operation.clone() else { return Ok(()) };
        let (owner, id) = (self.load(run)?.row.owner, base.tool.id);
        let judged = match self.judged(owner, base, inputs)? {
            Ok((ready, inputs)) => self.write_call(run, place, &ready, &inputs)?.map(|written| (written, inputs)),
            Err(fault) => Err(fault),
        };
        let (written, inputs) = match judged {
            Ok(written) => written,
            Err(fault) => {
                let fault = self.explained(run, place.step, id, fault)?;
                self.push_input(run, Input::Faulted { place, fault });
                return Ok(());
            }
        };
        let begun = match call.render(&inputs) {
            Ok(mut arguments) => match named_process(&mut arguments) {
                Some((process, context)) if self.load(run)?.state.levels_left > 0 => {
                    self.begin_child(run, place, process, context, written)?
                }
                Some(_) => Err(self.load(run)?.state.too_deep()),
                None => Err(Fault::new("bad_arguments", "the tool names no process to run")),
            },
            Err(violation) => Err(Fault::breach(&violation)),
        };
        match begun {
            Ok(child) => self.push_input(child, Input::Begin),
            Err(fault) => {
                let fault = self.explained(run, place.step, id, fault)?;
                self.write_child_result(run, place, written, &Err(fault.clone()), 0)?;
                self.push_input(run, Input::Faulted { place, fault });
            }
        }
        Ok(())
    }

    fn begin_child(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        process: RecordId,
        context: Map<String, Value>,
        cause: ItemId,
    ) -> Result<Result<ExecutionId, Fault>, StoreError> {
        let too_many = |message: String| Ok(Err(Fault::new("too_many_runs", message).by_rule("BR-PROCESS-007")));
        if self.runs.len() >= RUNS_AT_ONCE_MAX {
            return too_many(format!("more than {RUNS_AT_ONCE_MAX} runs would begin at once"));
        }
        // What the outermost run itself starts is bounded by its steps.
        if self.load(run)?.row.parent.is_some() {
            let outermost = self.outermost(run)?;
            if self.tx.executions_below(outermost, RUNS_IN_ALL_MAX)? >= RUNS_IN_ALL_MAX {
                return too_many(format!("{outermost} has led to {RUNS_IN_ALL_MAX} runs already"));
            }
        }
        self.flush_items()?;
        let loaded = self.load(run)?;
        let (owner, session, priority) = (loaded.row.owner, loaded.row.session, loaded.row.priority);
        let paused_at = loaded.row.paused_at;
        let above = (loaded.state.levels_left, loaded.state.stack.clone());
        let beginning = ExecutionStart {
            owner,
            process,
            context,
            parent: Some((run, place)),
            above: Some(above),
            session: Some(session),
            cause: Some(cause),
            priority,
            paused_at,
            ..ExecutionStart::default()
        };
        match self.begin(beginning) {
            Ok(child) => {
                self.set_deadline(run, place, child)?;
                Ok(Ok(child))
            }
            Err(StoreError::Rule(violation)) => Ok(Err(Fault::breach(&violation))),
            Err(StoreError::Item(bad)) => Ok(Err(Fault::new("inputs_not_storable", bad.to_string()))),
            Err(error @ (StoreError::NotFound(_) | StoreError::Refused(_) | StoreError::Forbidden)) => {
                Ok(Err(Fault::new("process_unavailable", error.to_string())))
            }
            Err(error) => Err(error),
        }
    }

    /// The run that nobody else started, above this one or itself.
    fn outermost(&mut self, run: ExecutionId) -> Result<ExecutionId, StoreError> {
        let mut at = run;
        loop {
            let parent = match self.runs.get(&at) {
                Some(loaded) => loaded.row.parent,
                None => self.tx.execution(&SYSTEM, at)?.parent,
            };
            match parent {
                Some((above, _)) => at = above,
                None => return Ok(at),
            }
        }
    }

    /// A step that calls a process waits for it as a run; a tool in front of one waits as for any call.
    pub(crate) fn tell_parent(
        &mut self,
        (parent, place): (ExecutionId, CallSite),
        result: Result<Value, Fault>,
        ended: &ExecutionEnded,
    ) -> Result<(), StoreError> {
        let tokens = ended.tokens;
        let loaded = match self.load(parent) {
            Ok(loaded) => loaded,
            Err(StoreError::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        loaded.note_costs(place.step, ended.owed.costs());
        let is_called = place.call.is_some() || loaded.state.steps[place.step].phase == Phase::Calling;
        let open = loaded.open_calls().into_iter().find(|(at, _)| *at == place).map(|(_, call)| call);
        let has_ended = loaded.state.status.has_ended();
        self.clear_deadline(parent, place, ended.run_id)?;
        // What a run that has ended left open was closed with it.
        if let Some(call) = open.filter(|_| is_called && !has_ended) {
            self.write_child_result(parent, place, call, &result, ended.latency_ms)?;
        }
        let input = match result {
            result if !is_called => Input::ChildEnded { place, outcome: result, tokens },
            Ok(output) => Input::Returned {
                place,
                output,
                tokens,
                wishes: Vec::new(),
                owed: CostTotals::default(),
                says_nothing: false,
            },
            Err(fault) => Input::Faulted { place, fault },
        };
        self.push_input(parent, input);
        Ok(())
    }

    /// What came of the call of a tool in front of a process; what it used stands with the calls of that run.
    fn write_child_result(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        call: ItemId,
        result: &Result<Value, Fault>,
        latency_ms: i64,
    ) -> Result<(), StoreError> {
        let outcome = match result {
            Ok(output) => Ok(output.clone()),
            Err(fault) => Err(json!({ "code": fault.code, "message": fault.message, "rule": fault.rule })),
        };
        let is_uncertain = matches!(result, Err(fault) if fault.uncertain);
        let status = if is_uncertain { CallStatus::Unknown } else { CallStatus::Error };
        let (answered, large) = storable(CallResponse::own(outcome));
        let blank = ToolResult { latency_ms, ..nothing(call) };
        let result = match answered.outcome {
            Ok(_) if large.is_some() => ToolResult { status: CallStatus::Success, ..blank },
            Ok(output) => ToolResult { status: CallStatus::Success, output, ..blank },
            Err(error) => ToolResult { status, error: Some(error), ..blank },
        };
        self.write_result(run, place, &result, large.as_ref(), None)?;
        Ok(())
    }
}

pub(crate) fn is_process_in_disguise(tool: &StoredEntry<Tool>) -> bool {
    matches!(&tool.entry.operation, Operation::McpTool(call) if call.tool == RUN_PROCESS)
        && builtin_tools::is_own(tool.entry.service_id)
}

/// The process that a tool in front of one runs, and what it is given.
fn named_process(arguments: &mut Map<String, Value>) -> Option<(RecordId, Map<String, Value>)> {
    let process = arguments.remove("processId")?.as_str()?.parse().ok()?;
    let context = match arguments.remove("context") {
        Some(Value::Object(context)) => context,
        _ => std::mem::take(arguments),
    };
    Some((process, context))
}
