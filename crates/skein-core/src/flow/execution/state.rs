//! Defines the state of an execution and of its steps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::flow::execution::input::Fault;
use crate::flow::execution::tool_loop::ToolLoop;
use crate::flow::plan::{Plan, VariableScope};
use crate::flow::process::Process;
use crate::id::RecordId;
use crate::time::Millis;

/// How a run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExecutionStatus {
    Running,
    Completed,
    Failed,
    Cancelled,
}

impl ExecutionStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Running, Self::Completed, Self::Failed, Self::Cancelled].into_iter().find(|s| s.as_str() == text)
    }

    pub fn has_ended(self) -> bool {
        self != Self::Running
    }
}

/// How far a step, or a call a model asked for, has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// What it depends on has not ended.
    #[default]
    Waiting,
    /// A call is queued or under way.
    Calling,
    /// A person is asked.
    Asking,
    /// Another run was started.
    Running,
    /// Calls the model asked for are being made.
    Conversing,
    /// Other steps stand in for it.
    Replaced,
    /// A call was begun and nobody knows its end: a person is asked.
    Unknown,
    Done,
    Skipped,
    Failed,
    Cancelled,
}

const PHASES: [(Phase, &str); 11] = [
    (Phase::Waiting, "waiting"),
    (Phase::Calling, "calling"),
    (Phase::Asking, "asking"),
    (Phase::Running, "running"),
    (Phase::Conversing, "conversing"),
    (Phase::Replaced, "replaced"),
    (Phase::Unknown, "unknown"),
    (Phase::Done, "done"),
    (Phase::Skipped, "skipped"),
    (Phase::Failed, "failed"),
    (Phase::Cancelled, "cancelled"),
];

impl Phase {
    pub fn as_str(self) -> &'static str {
        PHASES.iter().find(|(phase, _)| *phase == self).map_or("waiting", |(_, text)| text)
    }

    pub fn parse(text: &str) -> Option<Self> {
        PHASES.iter().find(|(_, spelled)| *spelled == text).map(|(phase, _)| *phase)
    }

    pub fn has_ended(self) -> bool {
        matches!(self, Self::Done | Self::Skipped | Self::Failed | Self::Cancelled)
    }

    /// Whether something outside the machine is to come.
    pub fn is_open(self) -> bool {
        !self.has_ended() && self != Self::Waiting
    }
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepState {
    pub phase: Phase,
    /// How many calls were asked for, the present one included.
    pub attempt: u32,
    /// What it gave; null unless it is done.
    pub output: Value,
    pub fault: Option<Fault>,
    /// What its calls used up.
    pub tokens: u64,
    /// What it is called with: kept for repeats, and because a person may have changed it.
    pub inputs: Map<String, Value>,
    pub dialogue: Option<ToolLoop>,
    pub began_at: Option<Millis>,
    pub ended_at: Option<Millis>,
}

impl StepState {
    /// The time in which its run was paused is not the step's. What people were waited for in it counts once they decided.
    pub fn was_paused(&mut self, since: Millis, now: Millis) {
        let Some(began) = self.began_at.filter(|_| self.phase.is_open()) else { return };
        let dialogue = self.dialogue.get_or_insert_default();
        let until = dialogue.asking_since.map_or(now, |asking| asking.min(now));
        dialogue.waited_ms += (until.0 - since.max(began).0).max(0);
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    pub status: ExecutionStatus,
    pub context: Map<String, Value>,
    /// One for each step of the plan.
    pub steps: Vec<StepState>,
    /// How many runs may still be started one inside the other (rules BR-PROCESS-007, BR-STEP-008).
    pub levels_left: u8,
    /// The processes from the outermost run to this one, by name.
    pub stack: Vec<String>,
    /// How many tokens it may use (rule BR-PROCESS-006).
    pub token_budget: Option<u64>,
}

impl Execution {
    /// A run that has not begun. `above` is what the run that starts this one has left, and its stack.
    pub fn of(process: &Process, plan: &Plan, context: Map<String, Value>, above: Option<(u8, &[String])>) -> Self {
        let own = process.max_recursion_depth;
        let (levels_left, stack) = match above {
            Some((left, stack)) => (own.min(left.saturating_sub(1)), stack.to_vec()),
            None => (own, Vec::new()),
        };
        let stack = stack.into_iter().chain([process.name.as_str().to_owned()]).collect();
        let steps = vec![StepState::default(); plan.steps().len()];
        let (status, token_budget) = (ExecutionStatus::Running, process.token_budget);
        Self { status, context, steps, levels_left, stack, token_budget }
    }

    /// Which run it is, counted from the outermost (rule BR-EXEC-007).
    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Why it may not start another run (rules BR-STEP-008, BR-EXEC-007).
    pub fn too_deep(&self) -> Fault {
        let (depth, stack) = (self.depth(), &self.stack);
        let message = format!("runs are nested too deep at depth {depth}: {}", stack.join(" → "));
        let fault = Fault::new("recursion_limit_exceeded", message).by_rule("BR-STEP-008");
        Fault { details: json!({ "callStack": stack, "depth": depth }), ..fault }
    }

    /// Whether a person approved a call like this one earlier in the run (decision Z14).
    pub fn is_approved(&self, tool: RecordId, inputs: &Map<String, Value>) -> bool {
        let mut approved = self.steps.iter().filter_map(|step| step.dialogue.as_ref()).flat_map(|told| &told.approved);
        approved.any(|approved| approved.covers(tool, inputs))
    }

    /// Whether a person approved the call of a step, by itself or with others.
    pub fn is_call_approved(&self, step: usize, tool: RecordId) -> bool {
        let state = &self.steps[step];
        let is_own = state.dialogue.as_ref().is_some_and(|dialogue| dialogue.call_approved);
        is_own || self.is_approved(tool, &state.inputs)
    }

    pub fn tokens(&self) -> u64 {
        self.steps.iter().map(|step| step.tokens).sum()
    }

    /// What expressions may read: the outputs in the order of the steps, whatever order they came in (rule BR-EXEC-004).
    pub fn outputs(&self, plan: &Plan) -> BTreeMap<String, Value> {
        let mut outputs = BTreeMap::new();
        for (step, planned) in self.steps.iter().zip(plan.steps()) {
            if step.phase.has_ended() {
                outputs.insert(planned.definition.output.variable.clone(), step.output.clone());
            }
        }
        outputs
    }

    pub fn with_scope<T>(&self, plan: &Plan, error: Option<&Value>, read: impl FnOnce(&VariableScope<'_>) -> T) -> T {
        let outputs = self.outputs(plan);
        read(&VariableScope { context: &self.context, outputs: &outputs, error })
    }
}
