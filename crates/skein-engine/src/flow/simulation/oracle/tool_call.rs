//! A step that calls a tool, again and again if need be, or a model that calls tools itself.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use skein_core::flow::execution::review::Decision;

use super::{CallFate, ExternalError, Fault, Kind, Reading, StepOutcome};

const CALLS_USUAL: u64 = 32;

pub(super) struct CallOracle<'r, 'a, 's> {
    reading: &'r mut Reading<'a>,
    step: &'a Value,
    at: usize,
    tool: &'s str,
    name: String,
    inputs: Map<String, Value>,
    questions: usize,
    /// What the tools told the model, and how often it asked for them.
    told: Vec<Option<String>>,
    rounds: usize,
    /// What needs no approval any more.
    approved: BTreeSet<String>,
}

/// What one call comes to.
enum CallResult {
    Open,
    Output(Value),
    Trouble(ExternalError),
    /// Nobody knows.
    Lost,
}

/// A call that a model asked for has not ended.
struct StillOpen;

impl<'r, 'a, 's> CallOracle<'r, 'a, 's> {
    pub(super) fn of(
        reading: &'r mut Reading<'a>,
        at: usize,
        tool: &'s str,
        name: String,
        inputs: Map<String, Value>,
    ) -> Self {
        let (step, questions, told, rounds, approved) = (reading.steps[at], 0, Vec::new(), 0, BTreeSet::new());
        Self { reading, step, at, tool, name, inputs, questions, told, rounds, approved }
    }

    pub(super) fn carried_out(mut self) -> StepOutcome {
        let asks_first = self.step["execution"]["interactionMode"] == "manual";
        let came = if asks_first { self.ask() } else { None };
        came.unwrap_or_else(|| {
            loop {
                if let Some(came) = self.attempt() {
                    return came;
                }
            }
        })
    }

    /// One call, and what follows from it; nothing if another follows.
    fn attempt(&mut self) -> Option<StepOutcome> {
        let number = self.reading.expected.steps[self.at].attempts;
        self.reading.expected.steps[self.at].attempts += 1;
        let (tool, name, inputs) = (self.tool, self.name.clone(), self.inputs.clone());
        match self.call(tool, &name, number as usize, &inputs) {
            CallResult::Open => Some(StepOutcome::Open),
            CallResult::Output(output) if self.step["tools"].is_array() && output["toolCalls"].is_array() => {
                self.round(&output["toolCalls"])
            }
            CallResult::Output(output) => Some(self.reading.came_out(self.at, output)),
            CallResult::Lost => self.ask(),
            CallResult::Trouble(trouble) => self.again(number as usize + 1, trouble),
        }
    }

    fn again(&mut self, attempts: usize, trouble: ExternalError) -> Option<StepOutcome> {
        let retries = self.step["retry"]["maxRetries"].as_u64().unwrap_or(0);
        // A round of calls is a call that came out.
        let is_repeated = trouble.may_pass && (attempts - self.rounds) as u64 <= retries;
        let would_be_done_again = is_repeated || self.step["fallback"].is_array();
        if trouble.is_uncertain && would_be_done_again && self.reading.outside.kind(self.tool) == Kind::Once {
            return self.ask();
        }
        let is_uncertain = trouble.is_uncertain && self.reading.outside.kind(self.tool) == Kind::Once;
        (!is_repeated).then(|| StepOutcome::failed(Fault { may_pass: trouble.may_pass, is_uncertain, ..trouble.fault }))
    }

    /// Asks a person; nothing if the call is to be made.
    fn ask(&mut self) -> Option<StepOutcome> {
        let decided = self.reading.decided(self.at, &self.name, self.questions);
        self.questions += 1;
        match decided {
            Ok(came) => Some(came),
            Err(Decision::Answer { value }) => Some(self.reading.came_out(self.at, value)),
            Err(Decision::Approve { inputs, .. }) => {
                self.inputs = inputs.unwrap_or_else(|| self.inputs.clone());
                self.reading.expected.steps[self.at].inputs.clone_from(&self.inputs);
                None
            }
            Err(Decision::Deny { .. } | Decision::Ask { .. }) => unreachable!("what is denied has failed"),
        }
    }

    fn call(&mut self, tool: &str, name: &str, number: usize, inputs: &Map<String, Value>) -> CallResult {
        let outside = self.reading.outside;
        let (kind, fate) = (outside.kind(tool), outside.fate(name, number));
        let fails = |code: &str| {
            CallResult::Trouble(ExternalError { fault: Fault::of(code), may_pass: false, is_uncertain: false })
        };
        let is_given = inputs.contains_key(if kind == Kind::Model { "messages" } else { "value" });
        if is_given {
            self.reading.expected.calls.insert((name.to_owned(), number), inputs.clone());
        }
        if fate == CallFate::GivenUp || !is_given {
            return fails(if fate == CallFate::GivenUp { "lost_worker" } else { "rule_violation" });
        }
        let answer = match kind {
            Kind::Model => outside.says(name, number, &self.told),
            Kind::Safe | Kind::Once => outside.answer(name, number, inputs),
        };
        match (fate, answer) {
            (CallFate::Kept, Ok(output)) => CallResult::Output(output),
            (CallFate::Kept, Err(trouble)) => CallResult::Trouble(trouble),
            (CallFate::Lost, _) => CallResult::Lost,
            (CallFate::Open | CallFate::GivenUp, _) => CallResult::Open,
        }
    }

    /// The calls that a model asks for at once; nothing if it is asked again.
    fn round(&mut self, wishes: &Value) -> Option<StepOutcome> {
        let wishes = wishes.as_array().map(Vec::as_slice).unwrap_or_default();
        self.rounds += 1;
        let limit = |name: &str| self.step["toolLimits"][name].as_u64();
        let calls = self.told.len() + wishes.len();
        if limit("rounds").is_some_and(|most| self.rounds as u64 > most)
            || calls as u64 > limit("calls").unwrap_or(CALLS_USUAL)
        {
            return Some(StepOutcome::failed(Fault::of("tool_limit_exceeded")));
        }
        let mut approved = self.approved.clone();
        let mut told = Vec::new();
        for (index, wish) in wishes.iter().enumerate() {
            told.push(self.wish(&format!("{}#{}.{index}", self.name, self.rounds), wish, &mut approved));
        }
        self.approved = approved;
        let Ok(told) = told.into_iter().collect::<Result<Vec<_>, _>>() else { return Some(StepOutcome::Open) };
        self.told.extend(told);
        None
    }

    /// What a model is told of a call: a text, or that it did not come out.
    fn wish(&mut self, name: &str, wish: &Value, approved: &mut BTreeSet<String>) -> Result<Option<String>, StillOpen> {
        let tool = self.reading.outside.tool(wish["name"].as_str().unwrap_or_default());
        let offers = self.step["tools"].as_array().into_iter().flatten();
        let offer = tool.and_then(|tool| offers.into_iter().find(|offer| offer["toolId"] == *tool).zip(Some(tool)));
        let Some((offer, tool)) = offer else { return Ok(None) };
        let mut inputs: Map<String, Value> = arguments(wish);
        if offer["approval"] != "never" && !self.approved.contains(&tool) {
            match self.reading.outside.decision(name, 0).ok_or(StillOpen)? {
                Decision::Approve { inputs: edited, .. } => inputs = edited.unwrap_or(inputs),
                Decision::Deny { .. } | Decision::Answer { .. } => return Ok(None),
                // In place of a result it hears what it is asked.
                Decision::Ask { question } => {
                    let told = "The call was not made. Before deciding, the person asks: ";
                    let then = "Answer in words, or ask for the call again.";
                    return Ok(Some(format!("{told}{question}\n{then}")));
                }
            }
            if offer["approval"] == "once" {
                approved.insert(tool.clone());
            }
        }
        match self.call(&tool, name, 0, &inputs) {
            CallResult::Open => Err(StillOpen),
            CallResult::Output(Value::String(text)) => Ok(Some(text)),
            CallResult::Output(output) => Ok(Some(output.to_string())),
            CallResult::Trouble(_) | CallResult::Lost => Ok(None),
        }
    }
}

/// What a model wants a tool to be called with.
fn arguments(wish: &Value) -> Map<String, Value> {
    serde_json::from_str(wish["arguments"].as_str().unwrap_or_default()).expect("models write JSON")
}
