//! Records a simulation from outside: the calls that went out and came back, vanished workers, and people's decisions.
//!
//! Nothing here is asked of the engine but which step of which run something is about. With the script, this is all that
//! the oracle is told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use skein_core::flow::execution::input::{CallSite, Fault};
use skein_core::flow::execution::review::{Decision, ReviewRequest};
use skein_core::{ExecutionId, ItemId, JobId, RecordId};
use skein_store::jobs::Job;

use crate::flow::execution::lookup::ShownExecution;
use crate::flow::simulation::definitions::Tools;
use crate::flow::simulation::oracle::{self, CallFate, Expected, ExternalError, Externals, Kind, nested_name};
use crate::flow::simulation::schedule::LOST_MAX;
use crate::flow::simulation::script::Script;
use crate::tool_call::record::PendingCall;

/// The definitions of processes by their ids.
pub(super) type Definitions = BTreeMap<String, Arc<Value>>;

/// What was seen of one call.
#[derive(Debug)]
struct ObservedCall {
    fate: CallFate,
    inputs: Map<String, Value>,
    tool: Option<RecordId>,
    came_out: bool,
    /// How often it went out.
    times: u32,
}

pub(super) struct Observations {
    script: Script,
    tools: Tools,
    library: Definitions,
    /// How each run is named, and what it is a run of.
    runs: BTreeMap<ExecutionId, (String, String)>,
    calls: BTreeMap<String, Vec<ObservedCall>>,
    names: BTreeMap<ItemId, (String, usize)>,
    /// How often each job was taken since it was queued.
    taken: BTreeMap<JobId, i64>,
    /// How often each model asked for calls.
    rounds: BTreeMap<String, usize>,
    decided: BTreeMap<String, Vec<Decision>>,
    cancelled: BTreeSet<ExecutionId>,
    /// What runs that others started failed by.
    nested: BTreeMap<String, Fault>,
}

impl Observations {
    pub(super) fn new(script: Script, tools: Tools, library: Definitions) -> Self {
        Self {
            script,
            tools,
            library,
            runs: BTreeMap::new(),
            calls: BTreeMap::new(),
            names: BTreeMap::new(),
            taken: BTreeMap::new(),
            rounds: BTreeMap::new(),
            decided: BTreeMap::new(),
            cancelled: BTreeSet::new(),
            nested: BTreeMap::new(),
        }
    }

    // Which run, which step

    pub(super) fn knows(&self, run: ExecutionId) -> bool {
        self.runs.contains_key(&run)
    }

    pub(super) fn begins(&mut self, run: ExecutionId, process: RecordId, definition: Arc<Value>) {
        self.library.insert(process.to_string(), definition);
        self.runs.insert(run, (format!("run{}", self.runs.len()), process.to_string()));
    }

    /// `attempt` counts the runs that the same step started before, from 0.
    pub(super) fn begins_within(
        &mut self,
        (parent, place): (ExecutionId, CallSite),
        attempt: usize,
        run: ExecutionId,
        process: RecordId,
    ) {
        let path = nested_name(&self.at(parent, place), attempt);
        self.runs.insert(run, (path, process.to_string()));
    }

    /// Learns what the runs that a run started failed by.
    pub(super) fn ended_within(&mut self, shown: &ShownExecution, path: &str) {
        let mut attempts: BTreeMap<usize, usize> = BTreeMap::new();
        for child in &shown.children {
            let Some((_, place)) = child.row.parent else { continue };
            let attempt = attempts.entry(place.step).or_default();
            let name = nested_name(&format!("{path}/{}", shown.steps[place.step].id), *attempt);
            *attempt += 1;
            if let Some(failure) = &child.row.failure {
                self.nested.insert(name.clone(), failure.fault.clone());
            }
            self.ended_within(child, &name);
        }
    }

    pub(super) fn path(&self, run: ExecutionId) -> String {
        self.runs[&run].0.clone()
    }

    /// Whether a run is another, or was started by it, or by what that started.
    pub(super) fn is_within(&self, run: ExecutionId, outer: ExecutionId) -> bool {
        let below = self.runs[&run].0.strip_prefix(&self.runs[&outer].0);
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }

    fn step(&self, run: ExecutionId, place: CallSite) -> &Value {
        oracle::steps(&self.library[&self.runs[&run].1])[place.step]
    }

    /// What a call or a question of a run is called.
    pub(super) fn at(&self, run: ExecutionId, place: CallSite) -> String {
        let name = format!("{}/{}", self.runs[&run].0, self.step(run, place)["id"].as_str().unwrap_or_default());
        match place.call {
            None => name,
            Some(call) => format!("{name}#{}.{call}", self.rounds.get(&name).copied().unwrap_or(0)),
        }
    }

    // Calls

    /// Whoever takes a job takes it after all who did vanished.
    pub(super) fn takes(&mut self, job: &Job) -> Result<(), String> {
        let taken = self.taken.entry(job.id).or_default();
        *taken += 1;
        if job.lost == *taken - 1 { Ok(()) } else { Err(format!("{job:?} was taken {taken} times")) }
    }

    /// Somebody took up a job of a paused run: it is as if they had not taken it.
    pub(super) fn parks(&mut self, job: &Job) {
        *self.taken.entry(job.id).or_default() -= 1;
    }

    /// Somebody took a job up, and that is committed: what an earlier one began and did not end is lost.
    pub(super) fn takes_up(&mut self, job: &Job, run: ExecutionId, place: CallSite) {
        let (at, once) = (self.at(run, place), [self.tools.once, self.tools.asked]);
        let is_given_up = self.taken[&job.id] > LOST_MAX;
        let calls = self.calls.entry(at).or_default();
        match calls.last_mut().filter(|call| call.fate == CallFate::Open) {
            Some(open) if open.tool.is_some_and(|tool| once.contains(&tool)) => open.fate = CallFate::Lost,
            Some(open) if is_given_up => open.fate = CallFate::GivenUp,
            None if is_given_up => {
                calls.push(ObservedCall {
                    fate: CallFate::GivenUp,
                    inputs: Map::new(),
                    tool: None,
                    came_out: false,
                    times: 0,
                });
            }
            Some(_) | None => {}
        }
    }

    /// A call was written down, if it was not before.
    pub(super) fn begun(&mut self, call: &PendingCall) {
        if self.names.contains_key(&call.call) {
            return;
        }
        let at = self.at(call.run, call.place);
        let calls = self.calls.entry(at.clone()).or_default();
        self.names.insert(call.call, (at, calls.len()));
        calls.push(ObservedCall {
            fate: CallFate::Open,
            inputs: call.inputs().clone(),
            tool: Some(call.tool()),
            came_out: false,
            times: 0,
        });
    }

    /// What must not be repeated goes out once.
    pub(super) fn goes_out(&mut self, call: &PendingCall) -> Result<(), String> {
        let (at, number) = &self.names[&call.call];
        let once = [self.tools.once, self.tools.asked];
        let seen = &mut self.calls.get_mut(at).expect("it was begun")[*number];
        seen.times += 1;
        if seen.times > 1 && once.contains(&call.tool()) {
            return Err(format!("{at} must not be repeated and went out {} times", seen.times));
        }
        Ok(())
    }

    /// What the outside answers.
    pub(super) fn outcome(&self, call: &PendingCall) -> Result<Value, Value> {
        let (at, number) = &self.names[&call.call];
        let said = if call.tool() == self.tools.model {
            let told: Vec<_> =
                call.told().map(|told| (!told.starts_with("{\"error\":")).then(|| told.to_owned())).collect();
            self.script.says(at, *number, &told)
        } else {
            self.script.answer(at, *number, call.inputs())
        };
        said.map_err(|ExternalError { fault, may_pass, is_uncertain }| {
            json!({ "code": fault.code, "message": fault.message, "retryable": may_pass, "uncertain": is_uncertain })
        })
    }

    /// What came of a call was written down, and others were begun with it.
    pub(super) fn kept(&mut self, call: &PendingCall, outcome: &Result<Value, Value>, handed: &[PendingCall]) {
        let (at, number) = self.names[&call.call].clone();
        let seen = &mut self.calls.get_mut(&at).expect("it was begun")[number];
        (seen.fate, seen.came_out) = (CallFate::Kept, outcome.is_ok());
        if outcome.as_ref().is_ok_and(|output| output["toolCalls"].is_array()) {
            *self.rounds.entry(at).or_default() += 1;
        }
        self.taken.extend(call.job.iter().map(|job| (job.id, 0)));
        for call in handed {
            self.taken.extend(call.job.iter().map(|job| (job.id, 1)));
            self.begun(call);
        }
    }

    /// Which call one on record is, and as what it may stand there.
    pub(super) fn seen(&self, call: &str) -> Option<(&str, &'static [&'static str])> {
        let (at, number) = self.names.get(&call.parse().ok()?)?;
        let seen = &self.calls[at][*number];
        Some((
            at,
            match seen.fate {
                CallFate::Open => &["cancelled"],
                CallFate::Lost | CallFate::GivenUp => &["unknown"],
                CallFate::Kept if seen.came_out => &["success"],
                CallFate::Kept => &["error", "unknown"],
            },
        ))
    }

    /// Every call that was begun.
    pub(super) fn begun_calls(&self) -> impl Iterator<Item = (&str, usize, &Map<String, Value>)> {
        let calls = self.calls.iter().flat_map(|(at, calls)| calls.iter().enumerate().map(move |seen| (at, seen)));
        calls
            .filter(|(_, (_, seen))| seen.tool.is_some())
            .map(|(at, (number, seen))| (at.as_str(), number, &seen.inputs))
    }

    // People

    /// What a person decides who is asked this, unless they let the time go by.
    pub(super) fn decides(&self, run: ExecutionId, place: CallSite, asked: &ReviewRequest) -> Option<Decision> {
        let (at, may_expire) = (self.at(run, place), self.waits_s(run, place).is_some());
        let number = self.decided.get(&at).map_or(0, Vec::len);
        self.script.decision(&at, number, asked, may_expire)
    }

    /// How long a question waits, if not for ever.
    pub(super) fn waits_s(&self, run: ExecutionId, place: CallSite) -> Option<i64> {
        self.step(run, place)["review"]["expiresAfter"].as_i64()
    }

    pub(super) fn decided(&mut self, run: ExecutionId, place: CallSite, decision: Decision) {
        let at = self.at(run, place);
        self.decided.entry(at).or_default().push(decision);
    }

    pub(super) fn cancelled(&mut self, run: ExecutionId) {
        self.cancelled.insert(run);
    }

    pub(super) fn was_cancelled(&self, run: ExecutionId) -> bool {
        self.cancelled.contains(&run)
    }

    // What must follow

    /// All that is known, for whoever reads why something is wrong.
    pub(super) fn told(&self) -> String {
        let processes: Vec<String> = self.runs.values().map(|(at, id)| format!("{at}: {}", self.library[id])).collect();
        format!("{}\ncalls: {:?}\ndecisions: {:?}", processes.join("\n"), self.calls, self.decided)
    }

    pub(super) fn expected(&self, run: ExecutionId, context: &Map<String, Value>) -> Expected {
        let (path, process) = &self.runs[&run];
        oracle::expected(self, process, context, path)
    }
}

impl Externals for Observations {
    fn answer(&self, at: &str, number: usize, inputs: &Map<String, Value>) -> Result<Value, ExternalError> {
        self.script.answer(at, number, inputs)
    }

    fn says(&self, at: &str, number: usize, told: &[Option<String>]) -> Result<Value, ExternalError> {
        self.script.says(at, number, told)
    }

    fn fate(&self, at: &str, number: usize) -> CallFate {
        self.calls.get(at).and_then(|calls| calls.get(number)).map_or(CallFate::Open, |seen| seen.fate)
    }

    fn decision(&self, at: &str, number: usize) -> Option<Decision> {
        self.decided.get(at)?.get(number).cloned()
    }

    fn kind(&self, tool: &str) -> Kind {
        match tool {
            tool if tool == self.tools.model.to_string() => Kind::Model,
            tool if tool == self.tools.safe.to_string() => Kind::Safe,
            _ => Kind::Once,
        }
    }

    fn tool(&self, name: &str) -> Option<String> {
        let named = [("echo", self.tools.safe), ("once", self.tools.once), ("asked", self.tools.asked)];
        named.into_iter().find(|(known, _)| *known == name).map(|(_, tool)| tool.to_string())
    }

    fn nested_fault(&self, at: &str) -> Option<&Fault> {
        self.nested.get(at)
    }

    fn process(&self, id: &str) -> &Value {
        &self.library[id]
    }
}
