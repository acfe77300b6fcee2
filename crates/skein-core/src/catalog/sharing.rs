//! Decides who may see, use, change, unshare and delete an entry, and lists the entries that others lose.
//!
//! Decided from loaded state alone: who asks, whose it is, whether it is shared, and how many things refer to it. What
//! cannot be seen does not exist; what is seen but not owned is forbidden; one's own breach is a rule (decision A16).

use serde::Serialize;

use crate::account::Viewer;
use crate::catalog::entry::OwnedEntry;
use crate::catalog::secret::Secret;
use crate::catalog::service::Service;
use crate::garden::record::Record;
use crate::id::UserId;
use crate::rule::RuleViolation;
use crate::time::Millis;

/// Why an entry is not handed out, changed or deleted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SharingRefusal {
    #[error("there is no such entry")]
    NotFound,
    #[error(transparent)]
    Forbidden(RuleViolation),
    #[error(transparent)]
    Conflict(RuleViolation),
    #[error(transparent)]
    Rule(#[from] RuleViolation),
}

/// Whether sharing an entry lets others see it. A secret is its owner's alone, whatever its flag says (decision A13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharingReach {
    Shareable,
    OwnerOnly,
}

impl SharingReach {
    /// The reach of a type of record.
    pub fn of(record_type: &str) -> Self {
        match record_type {
            "Service" | "Tool" | "ServiceTemplate" | "ToolTemplate" => Self::Shareable,
            _ => Self::OwnerOnly,
        }
    }
}

/// Who owns an entry and how far it reaches: all that visibility depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryVisibility {
    pub owner: UserId,
    pub shared: bool,
    pub reach: SharingReach,
}

impl EntryVisibility {
    pub fn of(record: &Record) -> Self {
        let content = &record.content;
        Self { owner: record.owner, shared: content.shared, reach: SharingReach::of(content.record_type.as_str()) }
    }
}

/// BR-SHARE-003: visible if owned, or shared and of a kind that sharing reaches.
pub fn may_see(viewer: &Viewer, standing: EntryVisibility, now: Millis) -> bool {
    viewer.may_read(standing.owner, now) || (standing.shared && standing.reach == SharingReach::Shareable)
}

/// BR-SHARE-002 and BR-SHARE-003: changed, shared and deleted by its owner alone.
pub fn check_change(viewer: &Viewer, standing: EntryVisibility, now: Millis) -> Result<(), SharingRefusal> {
    if !may_see(viewer, standing, now) {
        return Err(SharingRefusal::NotFound);
    }
    if viewer.may_write(standing.owner) {
        return Ok(());
    }
    let problem = "the entry belongs to another user";
    Err(SharingRefusal::Forbidden(RuleViolation::new(
        "BR-SHARE-003",
        problem,
        "make one of your own, perhaps by a template",
    )))
}

/// BR-SHARE-005: a tool stands on its owner's service, or on a shared one.
pub fn check_reference(owner: UserId, service: &OwnedEntry<Service>) -> Result<(), RuleViolation> {
    if service.owner == owner || service.shared {
        return Ok(());
    }
    let problem = format!("the service {:?} is not shared by its owner", service.entry.name.as_str());
    Err(RuleViolation::new("BR-SHARE-005", problem, "ask its owner to share it, or use another service"))
}

/// BR-SHARE-006: a secret is bound by its owner alone.
pub fn check_binding(owner: UserId, secret: &OwnedEntry<Secret>) -> Result<(), RuleViolation> {
    if secret.owner == owner {
        return Ok(());
    }
    let problem = "the secret belongs to another user";
    Err(RuleViolation::new("BR-SHARE-006", problem, "bind a secret of your own"))
}

/// How many things refer to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntryReferences {
    /// All that refer to it now.
    pub all: u64,
    /// Those that belong to others than its owner.
    pub by_others: u64,
    /// How many owners those have.
    pub other_owners: u64,
}

/// What depends on an entry, directly or through what stands on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AffectedEntries {
    pub processes: u64,
    pub tools: u64,
    /// Secrets that others bound to a tool.
    pub bindings: u64,
    /// Whose these are.
    pub users: u64,
}

impl AffectedEntries {
    /// All of it in words, or nothing.
    fn describe(self) -> Option<String> {
        let parts = [(self.processes, PROCESSES), (self.tools, TOOLS), (self.bindings, BINDINGS)];
        let named = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| what.counted(*count));
        let all = parts.iter().map(|(count, _)| count).sum::<u64>();
        let named = named.collect::<Vec<_>>();
        let (last, before) = named.split_last()?;
        let named = if before.is_empty() { last.clone() } else { format!("{} and {last}", before.join(", ")) };
        let verb = if all == 1 { "depends" } else { "depend" };
        Some(format!("{named} owned by {} {verb} on this resource", USERS.counted(self.users)))
    }
}

/// What an owner is told when something others use is not there for them any more (BR-SHARE-009). It never blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImpactWarning {
    pub affected_process_count: u64,
    pub affected_tool_count: u64,
    pub affected_binding_count: u64,
    pub affected_user_count: u64,
    pub message: String,
}

/// The warning for taking an entry back from those who use it, if anybody does.
pub fn unshare_warning(affected: AffectedEntries) -> Option<ImpactWarning> {
    warning(affected, "shared")
}

/// The warning for switching a tool off that processes use, its owner's own included (decision A64).
pub fn disable_warning(affected: AffectedEntries) -> Option<ImpactWarning> {
    warning(affected, "enabled")
}

fn warning(affected: AffectedEntries, until: &str) -> Option<ImpactWarning> {
    let message = format!("{} and will fail until it is {until} again", affected.describe()?);
    let AffectedEntries { processes, tools, bindings, users } = affected;
    Some(ImpactWarning {
        affected_process_count: processes,
        affected_tool_count: tools,
        affected_binding_count: bindings,
        affected_user_count: users,
        message,
    })
}

/// Things of one kind, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dependents {
    one: &'static str,
    many: &'static str,
}

pub(crate) const TOOLS: Dependents = Dependents { one: "tool", many: "tools" };
pub(crate) const BINDINGS: Dependents = Dependents { one: "secret binding", many: "secret bindings" };
pub(crate) const PROCESSES: Dependents = Dependents { one: "process", many: "processes" };
pub(crate) const CONVERSATIONS: Dependents = Dependents { one: "conversation", many: "conversations" };
const USERS: Dependents = Dependents { one: "user", many: "users" };

impl Dependents {
    pub(crate) fn counted(self, number: u64) -> String {
        format!("{number} {}", if number == 1 { self.one } else { self.many })
    }
}

/// Whether a service may be deleted: no tool stands on it.
pub fn check_service_deletion(tools: EntryReferences) -> Result<(), SharingRefusal> {
    check_deletion("BR-SERVICE-004", "service", TOOLS, tools)
}

/// Whether a secret may be deleted: no tool has it bound.
pub fn check_secret_deletion(tools: EntryReferences) -> Result<(), SharingRefusal> {
    check_deletion("BR-SECRET-002", "secret", TOOLS, tools)
}

/// Whether a tool may be deleted: no step of a process refers to it, and no run that goes on uses it. What such a run
/// does was settled when it began, so its process may have been changed since.
pub fn check_tool_deletion(processes: EntryReferences, is_in_open_run: bool) -> Result<(), SharingRefusal> {
    check_deletion("BR-TOOL-004", "tool", PROCESSES, processes)?;
    if is_in_open_run {
        let remedy = "wait until the run has ended, or cancel it";
        let violation = RuleViolation::new("BR-TOOL-004", "a run that has not ended uses this tool", remedy);
        return Err(SharingRefusal::Conflict(violation));
    }
    Ok(())
}

/// Others' things come first: they cannot be put right by the one who asks (BR-SHARE-004).
fn check_deletion(
    own_rule: &'static str,
    what: &str,
    by: Dependents,
    found: EntryReferences,
) -> Result<(), SharingRefusal> {
    let conflict =
        |rule, problem: String, remedy| Err(SharingRefusal::Conflict(RuleViolation::new(rule, problem, remedy)));
    if found.by_others > 0 {
        let (things, users) = (by.counted(found.by_others), USERS.counted(found.other_owners));
        let problem = format!("{things} of {users} depend on this {what}");
        return conflict("BR-SHARE-004", problem, "unshare it, and delete it once they have let go of it");
    }
    if found.all > 0 {
        let problem = format!("{} of yours refer to this {what}", by.counted(found.all));
        return conflict(own_rule, problem, "change or delete what refers to it first");
    }
    Ok(())
}
