//! Decides who may change, run and delete a process, and what keeps it from being deleted.
//!
//! A process is its owner's for good (BR-PROCESS-010) and is shared with nobody. Only a grant shows it to somebody else
//! (decision A16). Deleting puts it away: what it did is told by its id for ever (decision Z17).

use crate::account::Viewer;
use crate::catalog::sharing::{CONVERSATIONS, PROCESSES, SharingRefusal};
use crate::flow::process::Process;
use crate::id::UserId;
use crate::rule::RuleViolation;
use crate::time::Millis;

/// BR-PROCESS-010: its owner alone changes, deletes and runs it. To a viewer who may not see it, it does not exist.
pub fn check_owner(viewer: &Viewer, owner: UserId, now: Millis) -> Result<(), SharingRefusal> {
    if viewer.may_write(owner) {
        return Ok(());
    }
    if !viewer.may_read(owner, now) {
        return Err(SharingRefusal::NotFound);
    }
    let problem = "the process belongs to another user";
    Err(SharingRefusal::Forbidden(RuleViolation::new("BR-PROCESS-010", problem, "make a process of your own")))
}

/// What holds on to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessDependents {
    /// Conversations that offer it first.
    pub conversations: u64,
    /// Other processes that call it.
    pub callers: u64,
    pub has_open_run: bool,
}

/// BR-PROCESS-008: whether a process may be put away.
pub fn check_deletion(process: &Process, ties: ProcessDependents) -> Result<(), SharingRefusal> {
    let conflict = |problem: String, remedy| {
        let violation = RuleViolation::new("BR-PROCESS-008", problem, remedy);
        Err(SharingRefusal::Conflict(violation))
    };
    if process.archived {
        let remedy = "leave it; it is kept for what it has done, and can be restored";
        return Err(SharingRefusal::Rule(RuleViolation::new(
            "BR-PROCESS-008",
            "the process is archived already",
            remedy,
        )));
    }
    if ties.has_open_run {
        let remedy = "wait until the run has ended, or cancel it";
        return conflict("a run of this process has not ended".to_owned(), remedy);
    }
    if ties.conversations > 0 {
        let problem = format!("{} offer this process first", CONVERSATIONS.counted(ties.conversations));
        return conflict(problem, "choose another process there, or none");
    }
    if ties.callers > 0 {
        let problem = format!("{} of yours call this process", PROCESSES.counted(ties.callers));
        return conflict(problem, "change those processes first");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::account::Grant;
    use crate::id::ItemId;

    const ANNA: UserId = UserId::from_bytes([1; 16]);
    const BEN: UserId = UserId::from_bytes([2; 16]);
    const NOW: Millis = Millis(7);

    fn process() -> Process {
        let step = json!({ "id": "ask", "ask": { "prompt": "How many?" }, "output": { "variable": "count" } });
        let draft = json!({ "name": "Count", "steps": [step], "outputTemplate": "{{count}}" });
        Process::create(serde_json::from_value(draft).unwrap()).unwrap()
    }

    #[test]
    fn br_process_008_a_process_that_nothing_holds_on_to_is_put_away_holds() {
        assert_eq!(check_deletion(&process(), ProcessDependents::default()), Ok(()));
        let archived = process().archive();
        assert!(archived.archived && !archived.enabled);
    }

    #[test]
    fn br_process_008_hints_open_runs_and_callers_refuses() {
        for ties in [
            ProcessDependents { conversations: 1, ..ProcessDependents::default() },
            ProcessDependents { callers: 2, ..ProcessDependents::default() },
            ProcessDependents { has_open_run: true, ..ProcessDependents::default() },
        ] {
            let refused = check_deletion(&process(), ties).unwrap_err();
            assert!(
                matches!(refused, SharingRefusal::Conflict(violation) if violation.rule() == "BR-PROCESS-008"),
                "{ties:?}"
            );
        }
        assert!(matches!(
            check_deletion(&process().archive(), ProcessDependents::default()),
            Err(SharingRefusal::Rule(_))
        ));
    }

    #[test]
    fn br_process_010_its_owner_has_it_holds() {
        assert_eq!(check_owner(&Viewer::User(ANNA), ANNA, NOW), Ok(()));
    }

    #[test]
    fn br_process_010_somebody_who_cannot_see_it_refuses_as_if_there_were_none() {
        assert_eq!(check_owner(&Viewer::User(BEN), ANNA, NOW), Err(SharingRefusal::NotFound));
    }

    #[test]
    fn br_process_010_somebody_who_sees_it_by_a_grant_refuses() {
        let looking = |until| {
            let grant = Grant { item: ItemId::from_bytes([9; 16]), owner: ANNA, until };
            check_owner(&Viewer::Admin { user: BEN, grant }, ANNA, NOW)
        };
        let refused = looking(NOW.plus(1)).unwrap_err();
        assert!(matches!(refused, SharingRefusal::Forbidden(violation) if violation.rule() == "BR-PROCESS-010"));
        assert_eq!(looking(NOW), Err(SharingRefusal::NotFound), "the grant has ended");
    }
}
