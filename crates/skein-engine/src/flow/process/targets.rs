//! The tools and processes that a process names, looked up for the core to judge.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use skein_core::catalog::entry::Entry;
use skein_core::catalog::schema::Schema;
use skein_core::catalog::tool::Tool;
use skein_core::flow::plan::Plan;
use skein_core::flow::process::Process;
use skein_core::flow::step::{Reference, Step, StepTarget};
use skein_core::flow::target::TargetView;
use skein_core::flow::validation;
use skein_core::flow::validation::{Violation, Violations};
use skein_core::{Digest, RecordId, RuleViolation, UserId};
use skein_store::{StoreError, Tx};

use crate::catalog::{PastTools, SYSTEM, StoredEntry, last_shared};

/// Which versions of its targets a process was judged with.
pub(crate) type ValidatedVersions = BTreeMap<Reference, Option<Digest>>;

/// What was found of all that a process of one owner names.
#[derive(Clone)]
pub(crate) struct Targets {
    owner: UserId,
    found: BTreeMap<Reference, TargetEntry>,
    /// What the process named before: whose names its owner was shown once.
    known: BTreeSet<RecordId>,
}

#[derive(Clone)]
pub(crate) enum TargetEntry {
    Tool {
        tool: Box<StoredEntry<Tool>>,
        /// Whether it does something else by now.
        is_past: bool,
    },
    Process(Box<StoredEntry<Process>>),
    /// A tool whose version that is named cannot be called, and why.
    NoVersion(Box<StoredEntry<Tool>>, String),
}

impl TargetEntry {
    fn tool(tx: &mut Tx<'_>, tool: StoredEntry<Tool>, by: UserId, version: Option<i64>) -> Result<Self, StoreError> {
        // That of somebody else's no version is named is for the core to say.
        let version = version.filter(|_| tool.owner == by);
        match PastTools::default().defined_as(tx, tool.clone(), by, version) {
            Ok(defined) => {
                let is_past = defined.entry.definition_version != tool.entry.definition_version;
                Ok(Self::Tool { tool: Box::new(defined), is_past })
            }
            Err(StoreError::Rule(violation)) => Ok(Self::NoVersion(Box::new(tool), violation.problem().to_owned())),
            Err(error) => Err(error),
        }
    }
}

/// A tool under the name by which `by` may know it: one that was taken back keeps the name it had while it was shared.
fn as_known(tx: &mut Tx<'_>, mut tool: StoredEntry<Tool>, by: UserId) -> Result<StoredEntry<Tool>, StoreError> {
    if tool.owner != by && !tool.shared {
        tool.entry.name = match last_shared(tx, &tool)? {
            Some(shared) => shared.entry.name,
            None => tool.id.to_string().try_into().unwrap_or(tool.entry.name),
        };
    }
    Ok(tool)
}

impl Targets {
    /// Whatever is there, whoever may see it: the core says who may use it. `before` is the process as it was.
    pub(crate) fn load(
        tx: &mut Tx<'_>,
        process: &Process,
        owner: UserId,
        before: Option<&Process>,
    ) -> Result<Self, StoreError> {
        let mut found = BTreeMap::new();
        for named in process.references() {
            let record = match tx.record(&SYSTEM, named.id) {
                Err(StoreError::NotFound(_)) => continue,
                other => other?,
            };
            let target = match record.content.record_type.as_str() {
                Tool::RECORD_TYPE => {
                    let tool = as_known(tx, record.try_into()?, owner)?;
                    TargetEntry::tool(tx, tool, owner, named.version)?
                }
                Process::RECORD_TYPE => TargetEntry::Process(Box::new(record.try_into()?)),
                _ => continue,
            };
            found.insert(named, target);
        }
        let known = before.map(Process::references).unwrap_or_default();
        Ok(Self { owner, found, known: known.into_iter().map(|named| named.id).collect() })
    }

    /// What was found, by the hashes that change with anything a target can be judged by.
    pub(crate) fn editions(&self, process: &Process) -> ValidatedVersions {
        let hash = |named: Reference| {
            self.found.get(&named).map(|found| match found {
                TargetEntry::Tool { tool, .. } | TargetEntry::NoVersion(tool, _) => tool.hash,
                TargetEntry::Process(process) => process.hash,
            })
        };
        process.references().into_iter().map(|named| (named, hash(named))).collect()
    }

    /// What a verdict on the process rests on besides the process itself.
    pub(crate) fn asked(&self, process: &Process) -> String {
        format!("{} {:?} {:?}", self.owner, self.editions(process), self.known)
    }

    /// Whether a process is judged with these in a few milliseconds: each step may compile a schema and give it values.
    pub(crate) fn is_prompt(&self, process: &Process) -> bool {
        let named = process.all_steps().flat_map(Step::references);
        let schemas = named.filter_map(|named| match self.found.get(&named)? {
            TargetEntry::Tool { tool, .. } => Some(&tool.entry.input_schema),
            TargetEntry::Process(inner) => inner.entry.initial_context.schema(),
            TargetEntry::NoVersion(..) => None,
        });
        let own = process.all_steps().filter_map(|step| match &step.target {
            StepTarget::Ask(ask) => Some(&ask.schema),
            StepTarget::Tool(_) | StepTarget::Process(_) => None,
        });
        let given = || Value::Object(process.to_data());
        Schema::are_asked_promptly(schemas.chain(own).chain(process.initial_context.schema()), given)
    }

    /// Whether all targets are what they were when a process was judged with them.
    pub(crate) fn are_as_judged(tx: &mut Tx<'_>, judged: &ValidatedVersions) -> Result<bool, StoreError> {
        for (named, hash) in judged {
            let now = match tx.edition(&SYSTEM, named.id) {
                Ok((_, edition)) => Some(edition.hash),
                Err(StoreError::NotFound(_)) => None,
                Err(error) => return Err(error),
            };
            if now != *hash {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A process that names itself is judged by what it will be.
    pub(crate) fn put(&mut self, id: RecordId, next: &Process) {
        if let Some(TargetEntry::Process(itself)) = self.found.get_mut(&id.into()) {
            itself.entry = next.clone();
        }
    }

    pub(crate) fn find(&self, named: Reference) -> Option<&TargetEntry> {
        self.found.get(&named)
    }

    /// Whether the process may be kept with these.
    pub(crate) fn check(&self, process: &Process) -> Result<(), RuleViolation> {
        process.check_targets(&Plan::of(process)?, self.owner, |named| self.view(named))
    }

    /// All that is wrong with these.
    pub(crate) fn breaches(&self, process: &Process) -> Violations {
        match Plan::of(process) {
            Ok(plan) => validation::of_targets(process, &plan, self.owner, |named| self.view(named)),
            Err(violation) => Violation { violation, step: None, field: None }.into(),
        }
    }

    /// What others do not share is as good as missing, unless its name was known before.
    fn view(&self, named: Reference) -> TargetView<'_> {
        let is_known = |whose: UserId| whose == self.owner || self.known.contains(&named.id);
        match self.found.get(&named) {
            Some(TargetEntry::Tool { tool, .. } | TargetEntry::NoVersion(tool, _))
                if !tool.shared && !is_known(tool.owner) =>
            {
                TargetView::Missing
            }
            Some(TargetEntry::Process(process)) if !is_known(process.owner) => TargetView::Missing,
            None => TargetView::Missing,
            Some(TargetEntry::NoVersion(tool, problem)) => {
                TargetView::NoVersion { name: tool.entry.name.as_str(), problem }
            }
            Some(TargetEntry::Tool { tool, .. }) => TargetView::Tool {
                owner: tool.owner,
                shared: tool.shared,
                enabled: tool.entry.enabled,
                name: tool.entry.name.as_str(),
                input_schema: &tool.entry.input_schema,
                operation: tool.entry.operation.kind(),
                takes_tools: tool.entry.takes_tools(),
            },
            Some(TargetEntry::Process(process)) => TargetView::Process {
                owner: process.owner,
                enabled: process.entry.enabled,
                name: process.entry.name.as_str(),
                initial_context: &process.entry.initial_context,
            },
        }
    }
}
