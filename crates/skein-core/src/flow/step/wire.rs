//! A step as it is written: one flat object in which exactly one of three members names the target.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    ABORT_CONDITIONS_MAX, BACKOFF_MS_MAX, EXPIRES_AFTER_S_MAX, INPUTS_MAX, OFFER_CALLS_MAX, OFFER_ROUNDS_MAX,
    OFFER_SECONDS_MAX, OFFERS_MAX, OfferedTool, OnExpire, RETRIES_MAX, Review, ReviewQuestion, STEP_ID_BYTES_MAX, Step,
    StepExecution, StepOutput, StepRetry, StepTarget, TIMEOUT_S_MAX, TOKEN_BUDGET_MAX, ToolLoopLimits,
};
use crate::catalog::entry::NAME_CHARS_MAX;
use crate::flow::cost::Amount;
use crate::flow::scope;
use crate::id::RecordId;
use crate::rule::RuleViolation;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StepWire {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_id: Option<RecordId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_version: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    process_id: Option<RecordId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ask: Option<ReviewQuestion>,
    #[serde(default)]
    inputs: Map<String, Value>,
    output: StepOutput,
    #[serde(default)]
    execution: StepExecution,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    depends_on: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    review: Option<ReviewWire>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry: Option<StepRetry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fallback: Vec<StepWire>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    abort_when: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tools: Vec<OfferedTool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_limits: Option<ToolLoopLimits>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReviewWire {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_after: Option<u64>,
    #[serde(default)]
    on_expire: Expiry,
    #[serde(default, deserialize_with = "crate::catalog::entry::named", skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expiry {
    #[default]
    Fail,
    Default,
    Skip,
}

impl StepWire {
    pub(super) fn into_step(self) -> Result<Step, RuleViolation> {
        let target = target(self.tool_id, self.process_id, self.ask)?;
        let step = Step {
            id: self.id,
            name: self.name,
            target,
            tool_version: self.tool_version,
            inputs: self.inputs,
            output: self.output,
            execution: self.execution,
            depends_on: self.depends_on,
            review: self.review.map(ReviewWire::into_review).transpose()?,
            retry: self.retry,
            fallback: self.fallback.into_iter().map(Self::into_step).collect::<Result<_, _>>()?,
            abort_when: self.abort_when,
            offers: self.tools,
            offer_limits: self.tool_limits,
        };
        check_names(&step)?;
        check_versions(&step)?;
        check_limits(&step)?;
        check_person(&step)?;
        check_offers(&step)?;
        check_fallback(&step)?;
        Ok(step)
    }
}

impl TryFrom<StepWire> for Step {
    type Error = RuleViolation;

    fn try_from(wire: StepWire) -> Result<Self, RuleViolation> {
        wire.into_step()
    }
}

impl From<Step> for StepWire {
    fn from(step: Step) -> Self {
        let (tool_id, process_id, ask) = match step.target {
            StepTarget::Tool(id) => (Some(id), None, None),
            StepTarget::Process(id) => (None, Some(id), None),
            StepTarget::Ask(ask) => (None, None, Some(ask)),
        };
        Self {
            id: step.id,
            name: step.name,
            tool_id,
            tool_version: step.tool_version,
            process_id,
            ask,
            inputs: step.inputs,
            output: step.output,
            execution: step.execution,
            depends_on: step.depends_on,
            review: step.review.map(ReviewWire::from),
            retry: step.retry,
            fallback: step.fallback.into_iter().map(Self::from).collect(),
            abort_when: step.abort_when,
            tools: step.offers,
            tool_limits: step.offer_limits,
        }
    }
}

impl ReviewWire {
    fn into_review(self) -> Result<Review, RuleViolation> {
        let on_expire = match (self.on_expire, self.default) {
            (Expiry::Fail, None) => OnExpire::Fail,
            (Expiry::Skip, None) => OnExpire::Skip,
            (Expiry::Default, Some(value)) => OnExpire::Default(value),
            (Expiry::Default, None) => {
                let remedy = "give review.default, or let onExpire be fail or skip";
                return Err(RuleViolation::new("BR-STEP-006", "onExpire is default, and there is none", remedy));
            }
            (Expiry::Fail | Expiry::Skip, Some(_)) => {
                let remedy = "let onExpire be default, or leave review.default out";
                return Err(RuleViolation::new("BR-STEP-006", "review.default would never be used", remedy));
            }
        };
        Ok(Review { expires_after_s: self.expires_after, on_expire })
    }
}

impl From<Review> for ReviewWire {
    fn from(review: Review) -> Self {
        let (on_expire, default) = match review.on_expire {
            OnExpire::Fail => (Expiry::Fail, None),
            OnExpire::Skip => (Expiry::Skip, None),
            OnExpire::Default(value) => (Expiry::Default, Some(value)),
        };
        Self { expires_after: review.expires_after_s, on_expire, default }
    }
}

/// BR-STEP-007.
fn target(
    tool: Option<RecordId>,
    process: Option<RecordId>,
    ask: Option<ReviewQuestion>,
) -> Result<StepTarget, RuleViolation> {
    match (tool, process, ask) {
        (Some(id), None, None) => Ok(StepTarget::Tool(id)),
        (None, Some(id), None) => Ok(StepTarget::Process(id)),
        (None, None, Some(ask)) => Ok(StepTarget::Ask(ask)),
        (None, None, None) => {
            let remedy = "give a toolId, a processId or an ask";
            Err(RuleViolation::new("BR-STEP-007", "a step has a target, and this one has none", remedy))
        }
        _ => {
            let remedy = "keep one of toolId, processId and ask; make another step for the rest";
            Err(RuleViolation::new("BR-STEP-007", "a step has one target, and this one has several", remedy))
        }
    }
}

fn check_names(step: &Step) -> Result<(), RuleViolation> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if step.id.is_empty() || step.id.len() > STEP_ID_BYTES_MAX || !step.id.chars().all(is_word) {
        let problem = format!("{:?} is not an id", shortened(&step.id));
        return Err(RuleViolation::new("BR-PROCESS-001", problem, "use up to 64 letters, digits and _-."));
    }
    let is_line = |name: &String| {
        !name.trim().is_empty() && !name.chars().any(char::is_control) && name.chars().count() <= NAME_CHARS_MAX
    };
    if step.name.as_ref().is_some_and(|name| !is_line(name)) {
        return Err(RuleViolation::new("BR-PROCESS-001", "the name is not one line", "use up to 100 characters"));
    }
    scope::check_variable("BR-PROCESS-005", &step.output.variable)
}

/// BR-STEP-007: a version is one of a tool.
fn check_versions(step: &Step) -> Result<(), RuleViolation> {
    if step.tool_version.is_some() && !matches!(step.target, StepTarget::Tool(_)) {
        let remedy = "leave toolVersion out, or give the toolId it is a version of";
        return Err(RuleViolation::new("BR-STEP-007", "toolVersion is of no use: the step calls no tool", remedy));
    }
    match step.references().filter_map(|named| named.version).find(|version| *version < 1) {
        None => Ok(()),
        Some(version) => {
            let remedy = "name a version of the tool's history, or leave toolVersion out";
            Err(RuleViolation::new("BR-STEP-007", format!("toolVersion is {version}; they begin with 1"), remedy))
        }
    }
}

fn check_limits(step: &Step) -> Result<(), RuleViolation> {
    let execution = &step.execution;
    within("BR-STEP-005", "execution.timeout", execution.timeout_s, 1..=TIMEOUT_S_MAX, "choose 1 to 300 seconds")?;
    let budget = step.output.token_budget;
    within("BR-PROCESS-006", "output.tokenBudget", budget, 1..=TOKEN_BUDGET_MAX, "choose a budget in tokens")?;
    let inputs = Some(step.inputs.len());
    within("BR-STEP-001", "the number of inputs", inputs, 0..=INPUTS_MAX, "put some of them into one object")?;
    let aborts = Some(step.abort_when.len());
    within("BR-STEP-003", "the number of abortWhen", aborts, 0..=ABORT_CONDITIONS_MAX, "join some of them by ||")?;
    let Some(retry) = step.retry else { return Ok(()) };
    within("BR-STEP-004", "retry.maxRetries", Some(retry.max_retries), 0..=RETRIES_MAX, "retry up to 10 times")?;
    within("BR-STEP-004", "retry.backoffMs", Some(retry.backoff_ms), 0..=BACKOFF_MS_MAX, "wait up to 300000 ms")
}

/// BR-STEP-006: what is said about people is said where people are asked.
fn check_person(step: &Step) -> Result<(), RuleViolation> {
    if matches!(step.target, StepTarget::Ask(_)) && step.retry.is_some() {
        let remedy = "leave retry out; review says what happens without an answer";
        return Err(RuleViolation::new("BR-STEP-006", "a question to a person is not tried again", remedy));
    }
    let Some(review) = &step.review else { return Ok(()) };
    if !step.waits_for_a_person() {
        let remedy = "let interactionMode be manual, ask, or leave review out";
        return Err(RuleViolation::new("BR-STEP-006", "review is of no use: nobody is asked", remedy));
    }
    let seconds = review.expires_after_s;
    within("BR-STEP-006", "review.expiresAfter", seconds, 1..=EXPIRES_AFTER_S_MAX, "choose seconds, up to a year")?;
    if seconds.is_none() && review.on_expire != OnExpire::Fail {
        let remedy = "give review.expiresAfter in seconds";
        return Err(RuleViolation::new("BR-STEP-006", "onExpire is of no use: the review never expires", remedy));
    }
    Ok(())
}

fn check_offers(step: &Step) -> Result<(), RuleViolation> {
    let refuse = |problem, remedy| Err(RuleViolation::new("BR-STEP-001", problem, remedy));
    if step.offers.is_empty() && step.offer_limits.is_some() {
        return refuse("toolLimits are of no use: the step offers no tools", "list tools, or leave toolLimits out");
    }
    if !step.offers.is_empty() && !matches!(step.target, StepTarget::Tool(_)) {
        return refuse("only a step that calls a model offers tools", "give the toolId of an llm_call");
    }
    let mut ids: Vec<RecordId> = step.offers.iter().map(|offer| offer.tool_id).collect();
    ids.sort();
    if ids.windows(2).any(|pair| pair[0] == pair[1]) {
        return refuse("a tool is offered twice", "list each tool once");
    }
    within("BR-STEP-001", "the number of tools", Some(ids.len()), 0..=OFFERS_MAX, "offer fewer tools")?;
    let Some(limits) = step.offer_limits else { return Ok(()) };
    within("BR-STEP-001", "toolLimits.rounds", Some(limits.rounds), 1..=OFFER_ROUNDS_MAX, "choose 1 to 32 rounds")?;
    within("BR-STEP-001", "toolLimits.calls", Some(limits.calls), 1..=OFFER_CALLS_MAX, "choose 1 to 256 calls")?;
    let seconds = Some(limits.seconds);
    within("BR-STEP-001", "toolLimits.seconds", seconds, 1..=OFFER_SECONDS_MAX, "choose 1 to 3600 seconds")?;
    if limits.cost.is_some_and(|cost| cost.amount == Amount::default()) {
        return refuse("toolLimits.cost is nothing at all", "choose an amount above zero, or offer no tools");
    }
    within("BR-PROCESS-006", "toolLimits.tokens", limits.tokens, 1..=TOKEN_BUDGET_MAX, "choose a budget in tokens")
}

/// Fallback steps follow one another in place of the step, so they have nothing to say about order, and the last one
/// gives what the step would have given.
fn check_fallback(step: &Step) -> Result<(), RuleViolation> {
    let Some(last) = step.fallback.last() else { return Ok(()) };
    if step.fallback.iter().any(|inner| !inner.fallback.is_empty()) {
        let remedy = "list all steps of the fallback one after another";
        return Err(RuleViolation::new("BR-PROCESS-003", "a fallback has no fallback of its own", remedy));
    }
    let is_ordered = |inner: &Step| inner.depends_on.is_some() || inner.execution.mode != super::StepMode::Sequential;
    if step.fallback.iter().any(is_ordered) {
        let remedy = "leave dependsOn and mode out; they see what the step sees, and the fallback steps before them";
        return Err(RuleViolation::new("BR-PROCESS-003", "fallback steps run one after another", remedy));
    }
    if last.output.variable != step.output.variable {
        let problem = format!("its fallback does not end with the variable {:?}", step.output.variable);
        let remedy = "let the last step of the fallback have the output variable of the step it stands in for";
        return Err(RuleViolation::new("BR-PROCESS-005", problem, remedy));
    }
    Ok(())
}

fn within<T: PartialOrd + std::fmt::Display>(
    rule: &'static str,
    what: &str,
    value: Option<T>,
    limits: RangeInclusive<T>,
    remedy: &'static str,
) -> Result<(), RuleViolation> {
    match value {
        Some(value) if !limits.contains(&value) => {
            let problem = format!("{what} is {value}; it is from {} to {}", limits.start(), limits.end());
            Err(RuleViolation::new(rule, problem, remedy))
        }
        _ => Ok(()),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(64).collect()
}
