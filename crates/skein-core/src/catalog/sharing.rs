//! Who may see, use, change, unshare and delete an entry, and what others lose by it.
//!
//! Decided from loaded state alone: who asks, whose it is, whether it is shared, and how many things refer to it. What
//! cannot be seen does not exist; what is seen but not owned is forbidden; one's own breach is a rule (decision A16).

use serde::Serialize;

use crate::account::Viewer;
use crate::catalog::entry::Owned;
use crate::catalog::secret::Secret;
use crate::catalog::service::Service;
use crate::garden::record::Record;
use crate::id::UserId;
use crate::rule::RuleViolation;
use crate::time::Millis;

/// Why an entry is not handed out, changed or deleted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
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
pub enum Reach {
    Shareable,
    OwnerOnly,
}

impl Reach {
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
pub struct Standing {
    pub owner: UserId,
    pub shared: bool,
    pub reach: Reach,
}

impl Standing {
    pub fn of(record: &Record) -> Self {
        let content = &record.content;
        Self { owner: record.owner, shared: content.shared, reach: Reach::of(content.record_type.as_str()) }
    }
}

/// BR-SHARE-003: visible if owned, or shared and of a kind that sharing reaches.
pub fn may_see(viewer: &Viewer, standing: Standing, now: Millis) -> bool {
    viewer.may_read(standing.owner, now) || (standing.shared && standing.reach == Reach::Shareable)
}

/// BR-SHARE-002 and BR-SHARE-003: changed, shared and deleted by its owner alone.
pub fn check_change(viewer: &Viewer, standing: Standing, now: Millis) -> Result<(), Refused> {
    if !may_see(viewer, standing, now) {
        return Err(Refused::NotFound);
    }
    if viewer.may_write(standing.owner) {
        return Ok(());
    }
    let problem = "the entry belongs to another user";
    Err(Refused::Forbidden(RuleViolation::new("BR-SHARE-003", problem, "make one of your own, perhaps by a template")))
}

/// BR-SHARE-005: a tool stands on its owner's service, or on a shared one.
pub fn check_reference(owner: UserId, service: &Owned<Service>) -> Result<(), RuleViolation> {
    if service.owner == owner || service.shared {
        return Ok(());
    }
    let problem = format!("the service {:?} is not shared by its owner", service.entry.name.as_str());
    Err(RuleViolation::new("BR-SHARE-005", problem, "ask its owner to share it, or use another service"))
}

/// BR-SHARE-006: a secret is bound by its owner alone.
pub fn check_binding(owner: UserId, secret: &Owned<Secret>) -> Result<(), RuleViolation> {
    if secret.owner == owner {
        return Ok(());
    }
    let problem = "the secret belongs to another user";
    Err(RuleViolation::new("BR-SHARE-006", problem, "bind a secret of your own"))
}

/// How many things refer to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct References {
    /// All that refer to it now.
    pub all: u64,
    /// Those that belong to others than its owner.
    pub by_others: u64,
    /// How many owners those have.
    pub other_owners: u64,
}

/// What an owner is told when others lose sight of something they use (BR-SHARE-009). It never blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnshareWarning {
    pub affected_process_count: u64,
    pub affected_user_count: u64,
    pub message: String,
}

/// The warning for taking an entry back from those who use it, if anybody does.
pub fn unshare_warning(what: Dependents, references: References) -> Option<UnshareWarning> {
    if references.by_others == 0 {
        return None;
    }
    let (things, users) = (references.by_others, references.other_owners);
    let message = format!(
        "{} owned by {} {} on this resource and will fail until it is shared again",
        counted(things, what.one, what.many),
        counted(users, "user", "users"),
        if things == 1 { "depends" } else { "depend" },
    );
    Some(UnshareWarning { affected_process_count: things, affected_user_count: users, message })
}

/// What depends on an entry, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dependents {
    pub one: &'static str,
    pub many: &'static str,
}

pub const TOOLS: Dependents = Dependents { one: "tool", many: "tools" };
pub const BINDINGS: Dependents = Dependents { one: "secret binding", many: "secret bindings" };
pub const PROCESSES: Dependents = Dependents { one: "process", many: "processes" };

/// Whether a service may be deleted: no tool stands on it.
pub fn check_service_deletion(tools: References) -> Result<(), Refused> {
    check_deletion("BR-SERVICE-004", "service", tools)
}

/// Whether a secret may be deleted: no tool has it bound.
pub fn check_secret_deletion(tools: References) -> Result<(), Refused> {
    check_deletion("BR-SECRET-002", "secret", tools)
}

/// Others' things come first: they cannot be put right by the one who asks (BR-SHARE-004).
fn check_deletion(own_rule: &'static str, what: &str, tools: References) -> Result<(), Refused> {
    let conflict = |rule, problem: String, remedy| Err(Refused::Conflict(RuleViolation::new(rule, problem, remedy)));
    if tools.by_others > 0 {
        let (things, users) = (counted(tools.by_others, "tool", "tools"), counted(tools.other_owners, "user", "users"));
        let problem = format!("{things} of {users} depend on this {what}");
        return conflict("BR-SHARE-004", problem, "unshare it, and delete it once they have let go of it");
    }
    if tools.all > 0 {
        let problem = format!("{} of yours refer to this {what}", counted(tools.all, "tool", "tools"));
        return conflict(own_rule, problem, "delete those tools first, or point them elsewhere");
    }
    Ok(())
}

fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
