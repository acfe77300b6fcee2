//! A process: how work is done, as data that its owner can read, change and run.
//!
//! Made by [`Process::create`] from a draft, altered by [`Process::change`], kept as the data of a record like every
//! entry of the catalog. What it refers to is judged by [`super::target`]; all else that can be wrong with it is
//! found by making a [`Plan`] of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalog::entry::{self, Description, Entry, FixedField, Name, refuse_fixed};
use crate::catalog::schema::{self, AtOnce, BadSchema, Schema, SchemaJudge, Unfit};
use crate::flow::draft_size;
use crate::flow::plan::{LocatedViolation, Plan};
use crate::flow::scope;
use crate::flow::step::{Reference, Step, TOKEN_BUDGET_MAX};
use crate::flow::validation::Violation;
use crate::rule::RuleViolation;

/// Most variables of an initial context.
pub const CONTEXT_VARIABLES_MAX: usize = 100;
/// Most tools and processes that the steps of a process name, offers included.
pub const REFERENCES_MAX: usize = 256;
/// How deep processes call processes if nothing else is said.
pub const RECURSION_DEPTH_DEFAULT: u8 = 3;
/// How deep processes call processes at most (BR-PROCESS-007).
pub const RECURSION_DEPTH_MAX: u8 = 10;

/// A workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Process {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
    pub initial_context: InitialContext,
    pub steps: Vec<Step>,
    /// What the process answers, with places for variables.
    pub output_template: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<u64>,
    pub max_recursion_depth: u8,
    pub enabled: bool,
    /// Kept for what it has done, not run unless it is restored.
    #[serde(default)]
    pub archived: bool,
    /// Grows by one when what the process does changes (decision A49).
    pub definition_version: u32,
}

impl Entry for Process {
    const RECORD_TYPE: &'static str = "Process";

    fn restored(&self, past: Self) -> Self {
        let definition_version = self.definition_version + u32::from(past.definition() != self.definition());
        Self { definition_version, ..past }
    }
}

/// The variables a process is started with: names alone, or an object described by a JSON Schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum InitialContext {
    Names(Vec<String>),
    Schema(Value),
}

impl Default for InitialContext {
    fn default() -> Self {
        Self::Names(Vec::new())
    }
}

/// What a client sends to make a process.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProcessDraft {
    pub name: Name,
    pub description: Option<Description>,
    #[serde(default)]
    pub initial_context: InitialContext,
    #[serde(default)]
    pub steps: Vec<Value>,
    pub output_template: String,
    pub token_budget: Option<u64>,
    pub max_recursion_depth: Option<u64>,
    #[serde(default = "entry::is_enabled_by_default")]
    pub enabled: bool,
}

/// What a client sends to alter a process; what is absent stays, and `null` takes a budget or a description away.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ProcessChange {
    pub name: Option<Name>,
    #[serde(deserialize_with = "entry::named")]
    pub description: Option<Option<Description>>,
    pub initial_context: Option<InitialContext>,
    pub steps: Option<Vec<Value>>,
    pub output_template: Option<String>,
    #[serde(deserialize_with = "entry::named")]
    pub token_budget: Option<Option<u64>>,
    pub max_recursion_depth: Option<u64>,
    pub enabled: Option<bool>,
    pub archived: FixedField,
    pub shared: FixedField,
    pub owner_id: FixedField,
}

impl Process {
    /// The process a draft describes. Its targets are judged apart, by [`Process::check_targets`].
    pub fn create(draft: ProcessDraft) -> Result<Self, RuleViolation> {
        draft.check_size().map_err(|breach| breach.violation)?;
        let process = Self {
            name: draft.name,
            description: draft.description,
            initial_context: draft.initial_context,
            steps: parse_steps(&draft.steps)?,
            output_template: draft.output_template,
            token_budget: draft.token_budget,
            max_recursion_depth: recursion_depth(draft.max_recursion_depth)?,
            enabled: draft.enabled,
            archived: false,
            definition_version: 1,
        };
        process.check_definition()?;
        Ok(process)
    }

    /// The process after a change.
    pub fn change(&self, change: ProcessChange) -> Result<Self, RuleViolation> {
        change.refuse_fixed()?;
        if self.archived {
            let remedy = "restore it first, or make another process";
            return Err(RuleViolation::new("BR-PROCESS-008", "the process is archived", remedy));
        }
        let mut next = self.clone();
        next.name = change.name.unwrap_or(next.name);
        next.description = change.description.unwrap_or(next.description);
        next.initial_context = change.initial_context.unwrap_or(next.initial_context);
        next.output_template = change.output_template.unwrap_or(next.output_template);
        next.token_budget = change.token_budget.unwrap_or(next.token_budget);
        next.enabled = change.enabled.unwrap_or(next.enabled);
        if let Some(steps) = change.steps {
            draft_size::check_steps(&steps).map_err(|breach| breach.violation)?;
            draft_size::check_patterns(&next.initial_context, &steps).map_err(|breach| breach.violation)?;
            next.steps = parse_steps(&steps)?;
        }
        if change.max_recursion_depth.is_some() {
            next.max_recursion_depth = recursion_depth(change.max_recursion_depth)?;
        }
        if next.definition() != self.definition() {
            next.definition_version += 1;
            next.check_definition()?;
        }
        Ok(next)
    }

    /// The process as it is kept when its owner has deleted it (decision Z17).
    #[must_use]
    pub fn archive(&self) -> Self {
        Self { enabled: false, archived: true, ..self.clone() }
    }

    /// The tools and processes that its steps name, each once: targets and offers, those of fallbacks included.
    pub fn references(&self) -> BTreeSet<Reference> {
        self.all_steps().flat_map(Step::references).collect()
    }

    /// Its steps, each followed by those that stand in for it.
    pub fn all_steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().flat_map(|step| std::iter::once(step).chain(&step.fallback))
    }

    /// BR-STEP-007: what is approved for a run counts for all its calls of a tool, so they are calls of one version. All
    /// steps together name at most [`REFERENCES_MAX`].
    pub(crate) fn check_versions(&self) -> Result<(), LocatedViolation> {
        let mut first = BTreeMap::new();
        for (at, main) in self.steps.iter().enumerate() {
            let steps = std::iter::once(main).chain(&main.fallback);
            for (step, named) in steps.flat_map(|step| step.references().map(move |named| (step, named))) {
                let (known, version) = *first.entry(named.id).or_insert((&step.id, named.version));
                let (problem, remedy) = if version != named.version {
                    let problem = format!("the steps {known:?} and {:?} name two versions of {}", step.id, named.id);
                    (problem, "let all steps name one toolVersion of it, or none")
                } else if first.len() > REFERENCES_MAX {
                    let problem = format!("the steps name more than {REFERENCES_MAX} tools and processes");
                    (problem, "offer fewer tools, or move steps to a process of their own")
                } else {
                    continue;
                };
                return Err(LocatedViolation {
                    violation: RuleViolation::new("BR-STEP-007", problem, remedy),
                    step: Some(at),
                });
            }
        }
        Ok(())
    }

    fn check_definition(&self) -> Result<(), RuleViolation> {
        check_token_budget(self.token_budget)?;
        self.check_versions().map_err(|located| located.violation)?;
        self.steps.iter().enumerate().try_for_each(|(at, step)| step.check_effects(at + 1))?;
        Plan::of(self).map(drop)
    }

    fn definition(&self) -> (&InitialContext, &[Step], &str, Option<u64>, u8) {
        let Self { initial_context, steps, output_template, token_budget, max_recursion_depth, .. } = self;
        (initial_context, steps, output_template, *token_budget, *max_recursion_depth)
    }
}

impl ProcessDraft {
    /// Whether the draft is small enough to be looked into.
    pub(crate) fn check_size(&self) -> Result<(), Violation> {
        draft_size::check_steps(&self.steps)?;
        draft_size::check_patterns(&self.initial_context, &self.steps)
    }
}

impl ProcessChange {
    fn refuse_fixed(&self) -> Result<(), RuleViolation> {
        refuse_fixed("BR-PROCESS-008", &[("archived", self.archived)], "delete the process to archive it")?;
        refuse_fixed("BR-PROCESS-010", &[("ownerId", self.owner_id)], "make another process")?;
        refuse_fixed("BR-PROCESS-010", &[("shared", self.shared)], "share the tools it uses; a process is its owner's")
    }
}

impl InitialContext {
    /// The schema that describes them, if one does.
    pub fn schema(&self) -> Option<&Value> {
        match self {
            Self::Names(_) => None,
            Self::Schema(schema) => Some(schema),
        }
    }

    /// The declared variables.
    pub fn names(&self) -> BTreeSet<&str> {
        match self {
            Self::Names(names) => names.iter().map(String::as_str).collect(),
            Self::Schema(schema) => schema["properties"].as_object().into_iter().flatten().map(|(n, _)| &**n).collect(),
        }
    }

    /// The variables without which a process cannot be started.
    pub fn required(&self) -> Vec<&str> {
        match self {
            Self::Names(names) => names.iter().map(String::as_str).collect(),
            Self::Schema(schema) => {
                schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
            }
        }
    }

    /// Whether a process can be started with these values.
    pub fn check_values(&self, values: &Map<String, Value>) -> Result<(), RuleViolation> {
        self.check_values_by(values, &AtOnce)
    }

    /// [`Self::check_values`] with a judge of schemas.
    pub fn check_values_by<J: SchemaJudge>(&self, values: &Map<String, Value>, judge: &J) -> Result<(), J::Error> {
        let declared = self.names();
        let extra: Vec<&str> = values.keys().map(String::as_str).filter(|name| !declared.contains(name)).collect();
        let refuse = |problem: String| {
            let remedy = "give the variables of the initialContext, and no others";
            Err(RuleViolation::new("BR-STEP-001", problem, remedy).into())
        };
        if !extra.is_empty() {
            return refuse(format!("the initialContext does not declare {}", extra.join(", ")));
        }
        match self {
            Self::Names(names) => {
                let missing: Vec<&str> =
                    names.iter().map(String::as_str).filter(|name| !values.contains_key(*name)).collect();
                if missing.is_empty() { Ok(()) } else { refuse(format!("there is no {}", missing.join(", "))) }
            }
            Self::Schema(schema) => match judge.verdict(schema, &Value::Object(values.clone()))? {
                Ok(()) => Ok(()),
                Err(Unfit::Schema(bad)) => Err(unusable(&bad).into()),
                Err(Unfit::Value(breaches)) => {
                    refuse(format!("the values do not fit: {}", schema::describe(&breaches)))
                }
            },
        }
    }

    /// The values with the schema's defaults filled in where nothing was given.
    #[must_use]
    pub fn with_defaults(&self, mut values: Map<String, Value>) -> Map<String, Value> {
        let Self::Schema(schema) = self else { return values };
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            if let Some(default) = property.get("default").filter(|_| !values.contains_key(name)) {
                values.insert(name.clone(), default.clone());
            }
        }
        values
    }

    pub(crate) fn check(&self) -> Result<(), RuleViolation> {
        let names = self.names();
        let refuse = |problem: &str, remedy| Err(RuleViolation::new("BR-STEP-002", problem, remedy));
        match self {
            Self::Names(list) if list.len() != names.len() => {
                return refuse("the initialContext names a variable twice", "name each variable once");
            }
            Self::Schema(schema) => {
                if !schema.is_object() || schema.get("type").is_some_and(|kind| kind != "object") {
                    let remedy = "list names, or describe an object by a JSON Schema with properties";
                    return refuse("the initialContext describes no object", remedy);
                }
            }
            Self::Names(_) => {}
        }
        if names.len() > CONTEXT_VARIABLES_MAX {
            return refuse("the initialContext has more than 100 variables", "put some of them into one object");
        }
        if let Self::Schema(schema) = self {
            Schema::compile(schema).map_err(|bad| unusable(&bad))?;
        }
        names.into_iter().try_for_each(|name| scope::check_variable("BR-STEP-002", name))
    }
}

fn unusable(bad: &BadSchema) -> RuleViolation {
    let problem = format!("the initialContext is not usable: {bad}");
    RuleViolation::new("BR-STEP-002", problem, "list names, or give a JSON Schema of an object")
}

fn parse_steps(steps: &[Value]) -> Result<Vec<Step>, RuleViolation> {
    steps.iter().enumerate().map(|(at, step)| Step::parse(step, at + 1)).collect()
}

/// BR-PROCESS-006.
pub(crate) fn check_token_budget(budget: Option<u64>) -> Result<(), RuleViolation> {
    let Some(budget) = budget.filter(|budget| !(1..=TOKEN_BUDGET_MAX).contains(budget)) else { return Ok(()) };
    let problem = format!("tokenBudget is {budget}; it is from 1 to {TOKEN_BUDGET_MAX}");
    Err(RuleViolation::new("BR-PROCESS-006", problem, "choose a budget in tokens"))
}

/// BR-PROCESS-007.
pub(crate) fn recursion_depth(depth: Option<u64>) -> Result<u8, RuleViolation> {
    let Some(depth) = depth else { return Ok(RECURSION_DEPTH_DEFAULT) };
    u8::try_from(depth).ok().filter(|depth| (1..=RECURSION_DEPTH_MAX).contains(depth)).ok_or_else(|| {
        let problem = format!("maxRecursionDepth is {depth}; it is from 1 to {RECURSION_DEPTH_MAX}");
        RuleViolation::new("BR-PROCESS-007", problem, "choose a depth of up to 10")
    })
}
