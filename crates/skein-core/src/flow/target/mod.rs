//! Checks the targets of a process: each tool and process exists, may be used, and gets the inputs it requires.
//!
//! Judged from loaded state: somebody else looks the targets up. A refusal lists everything that breaks the same rule,
//! by the number of the step. Whether a tool may still be used is asked again right before each call
//! ([`super::authorization`]). That a process calls itself is no breach: how deep that goes is counted while it runs.

mod inputs;

use serde_json::Value;

use crate::catalog::operation::OperationType;
use crate::flow::plan::Plan;
use crate::flow::process::{InitialContext, Process};
use crate::flow::step::{Reference, StepTarget};
use crate::id::UserId;
use crate::rule::RuleViolation;

/// Most breaches listed in one refusal.
const BREACHES_MAX: usize = 100;

/// What must be known of a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TargetView<'a> {
    Tool {
        owner: UserId,
        shared: bool,
        enabled: bool,
        name: &'a str,
        input_schema: &'a Value,
        operation: OperationType,
        /// Whether it asks a model that can be offered tools.
        takes_tools: bool,
    },
    Process {
        owner: UserId,
        /// Not when it is archived.
        enabled: bool,
        name: &'a str,
        initial_context: &'a InitialContext,
    },
    /// There is a tool of one's own, and the version that is named cannot be called: why.
    NoVersion { name: &'a str, problem: &'a str },
    /// There is none of that id, or none that may be known of.
    Missing,
}

/// A tool or process that a step names.
struct NamedTarget<'a> {
    step: usize,
    reference: Reference,
    role: TargetRole,
    view: TargetView<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TargetRole {
    Tool,
    Process,
    Offer,
}

/// A rule that what a step names breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetBreach {
    pub rule: &'static str,
    /// Its index in the plan.
    pub step: usize,
    /// The member of the step that names it.
    pub field: &'static str,
    /// Which step it is, and what is wrong with it.
    pub problem: String,
    pub remedy: &'static str,
}

impl Process {
    /// Whether a process of `owner` may be kept with the targets it names: refused by the first rule that is broken, with
    /// all that breaks it.
    pub fn check_targets<'a>(
        &self,
        plan: &Plan,
        owner: UserId,
        lookup: impl Fn(Reference) -> TargetView<'a>,
    ) -> Result<(), RuleViolation> {
        let breaches = self.target_breaches(plan, owner, lookup);
        let Some(TargetBreach { rule, remedy, .. }) = breaches.first().cloned() else { return Ok(()) };
        let of_rule = breaches.into_iter().filter(|breach| (breach.rule, breach.remedy) == (rule, remedy));
        let problems: Vec<String> = of_rule.map(|breach| breach.problem).take(BREACHES_MAX).collect();
        Err(RuleViolation::new(rule, problems.join("; "), remedy))
    }

    /// All that is wrong with the targets a process of `owner` names, rule by rule.
    pub fn target_breaches<'a>(
        &self,
        plan: &Plan,
        owner: UserId,
        lookup: impl Fn(Reference) -> TargetView<'a>,
    ) -> Vec<TargetBreach> {
        let named: Vec<NamedTarget> = named(plan, lookup);
        let mut found = Vec::new();
        let mut judge = |rule, remedy, field: Option<&'static str>, breach: &dyn Fn(&NamedTarget) -> Option<String>| {
            found.extend(named.iter().filter_map(|named| {
                let (step, problem) = (named.step, format!("{} {}", plan.title(named.step), breach(named)?));
                Some(TargetBreach { rule, step, field: field.unwrap_or(named.role.field()), problem, remedy })
            }));
        };
        judge("BR-STEP-007", "name tools by toolId and processes by processId", None, &of_another_kind);
        judge("BR-STEP-007", "name another version, or leave toolVersion out", None, &no_version);
        let remedy = "use tools of your own, or ask their owners to share them";
        judge("BR-PROCESS-011", remedy, None, &|named| named.inaccessible_tool(owner));
        let remedy = "leave toolVersion out: what is shared is the tool as it is now";
        judge("BR-PROCESS-011", remedy, None, &|named| named.foreign_version(owner));
        let remedy = "call processes of your own; only tools are shared";
        judge("BR-PROCESS-010", remedy, None, &|named| named.inaccessible_process(owner));
        if self.enabled {
            judge("BR-PROCESS-009", "enable them, or keep this process disabled until then", None, &disabled);
        }
        let remedy = "leave output.tokenBudget out; a process has a tokenBudget of its own";
        judge("BR-PROCESS-006", remedy, Some("output.tokenBudget"), &|named| budget_of_no_model(named, plan));
        let remedy = "offer tools to a model only: let the toolId be one of an llm_call, and its api not completions";
        judge("BR-STEP-001", remedy, Some("tools"), &|named| offers_to_no_model(named, plan));
        let remedy = "raise the tokenBudget of the process, or lower those of other steps";
        judge("BR-PROCESS-006", remedy, Some("output.tokenBudget"), &|named| model_without_tokens(named, plan));
        let remedy = "give each target what it requires, of its types, and nothing else";
        judge("BR-STEP-001", remedy, Some("inputs"), &|named| inputs::breach(self, plan, named));
        found
    }
}

impl TargetRole {
    fn field(self) -> &'static str {
        match self {
            Self::Tool => "toolId",
            Self::Process => "processId",
            Self::Offer => "tools",
        }
    }
}

/// A model that may say nothing cannot answer.
fn model_without_tokens(named: &NamedTarget, plan: &Plan) -> Option<String> {
    let TargetView::Tool { operation: OperationType::LlmCall, name, .. } = named.view else { return None };
    let has_none = plan.steps()[named.step].token_budget == Some(0);
    (named.role == TargetRole::Tool && has_none)
        .then(|| format!("asks the model {name:?}, and no tokens are left for it"))
}

fn named<'a>(plan: &Plan, lookup: impl Fn(Reference) -> TargetView<'a>) -> Vec<NamedTarget<'a>> {
    let mut all = Vec::new();
    for (step, planned) in plan.steps().iter().enumerate() {
        let mut add = |reference, role| all.push(NamedTarget { step, reference, role, view: lookup(reference) });
        let definition = &planned.definition;
        match definition.target {
            StepTarget::Tool(id) => add(Reference { id, version: definition.tool_version }, TargetRole::Tool),
            StepTarget::Process(id) => add(id.into(), TargetRole::Process),
            StepTarget::Ask(_) => {}
        }
        definition.offers.iter().for_each(|offer| add(offer.reference(), TargetRole::Offer));
    }
    all
}

fn of_another_kind(named: &NamedTarget) -> Option<String> {
    match (named.role, named.view) {
        (TargetRole::Tool | TargetRole::Offer, TargetView::Process { name, .. }) => {
            Some(format!("takes Process {name} for a Tool"))
        }
        (TargetRole::Process, TargetView::Tool { name, .. }) => Some(format!("takes Tool {name} for a Process")),
        _ => None,
    }
}

fn no_version(named: &NamedTarget) -> Option<String> {
    let TargetView::NoVersion { name, problem } = named.view else { return None };
    let version = named.reference.version.unwrap_or_default();
    Some(format!("names version {version} of Tool {name}: {problem}"))
}

impl NamedTarget<'_> {
    /// BR-PROCESS-011, in the words of the rule.
    fn inaccessible_tool(&self, by: UserId) -> Option<String> {
        match (self.role, self.view) {
            (TargetRole::Tool | TargetRole::Offer, TargetView::Missing) => {
                Some(format!("references inaccessible Tool {}", self.reference.id))
            }
            (_, TargetView::Tool { owner, shared, name, .. }) if owner != by && !shared => {
                Some(format!("references inaccessible Tool {name}"))
            }
            _ => None,
        }
    }

    /// What its owner no longer lets a tool do is nothing others can go on with.
    fn foreign_version(&self, by: UserId) -> Option<String> {
        match (self.reference.version, self.view) {
            (Some(version), TargetView::Tool { owner, name, .. }) if owner != by => {
                Some(format!("names version {version} of Tool {name}, which is somebody else's"))
            }
            _ => None,
        }
    }

    /// A process is called by its owner alone (decision A17).
    fn inaccessible_process(&self, by: UserId) -> Option<String> {
        match (self.role, self.view) {
            (TargetRole::Process, TargetView::Missing) => {
                Some(format!("references inaccessible Process {}", self.reference.id))
            }
            (_, TargetView::Process { owner, name, .. }) if owner != by => {
                Some(format!("references inaccessible Process {name}"))
            }
            _ => None,
        }
    }
}

/// BR-PROCESS-009.
fn disabled(named: &NamedTarget) -> Option<String> {
    match named.view {
        TargetView::Tool { enabled: false, name, .. } => Some(format!("references disabled Tool {name}")),
        TargetView::Process { enabled: false, name, .. } => Some(format!("references disabled Process {name}")),
        _ => None,
    }
}

/// Decision Z31: only a model is held to a budget of tokens.
fn budget_of_no_model(named: &NamedTarget, plan: &Plan) -> Option<String> {
    match (named.role, named.view) {
        (TargetRole::Tool, TargetView::Tool { operation, name, .. }) if operation != OperationType::LlmCall => {
            let budget = plan.steps()[named.step].definition.output.token_budget;
            budget.map(|_| format!("has an output.tokenBudget without effect: Tool {name} is no model"))
        }
        _ => None,
    }
}

fn offers_to_no_model(named: &NamedTarget, plan: &Plan) -> Option<String> {
    match (named.role, named.view) {
        (TargetRole::Tool, TargetView::Tool { takes_tools: false, name, .. }) => {
            let offers = &plan.steps()[named.step].definition.offers;
            (!offers.is_empty()).then(|| format!("offers tools to Tool {name}, which is no model that takes any"))
        }
        _ => None,
    }
}
