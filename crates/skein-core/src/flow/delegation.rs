//! Whom the owner of a question asked to decide in their place, and what that opens to them.
//!
//! The question alone, while it is open, and afterwards what they decided themselves: nothing of the run, which stays its
//! owner's. The owner may decide as before, and take it back.

use crate::account::Viewer;
use crate::catalog::sharing::SharingRefusal;
use crate::flow::execution::review::Decision;
use crate::id::UserId;
use crate::rule::RuleViolation;
use crate::time::Millis;

const RULE: &str = "BR-STEP-006";

/// Whose a question is, and in whose hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delegation {
    pub owner: UserId,
    pub delegate: Option<UserId>,
    pub decided_by: Option<UserId>,
    pub is_open: bool,
}

impl Delegation {
    pub fn may_see(&self, viewer: &Viewer, now: Millis) -> bool {
        // A grant opens somebody's own things, not those of others that were put into their hands.
        viewer.may_read(self.owner, now) || matches!(viewer, Viewer::User(user) if self.is_in_hands_of(*user))
    }

    /// Whether somebody else than its owner sees it.
    pub fn is_in_hands_of(&self, user: UserId) -> bool {
        self.delegate == Some(user) && (self.is_open || self.decided_by == Some(user))
    }

    /// Refuses what reaches beyond the question: what stands for good stands in all of its giver's runs, and what a model
    /// answers to a question back is said in the run.
    pub fn check_decision(&self, decider: UserId, decision: &Decision) -> Result<(), RuleViolation> {
        if decider == self.owner {
            return Ok(());
        }
        if decision.stands() {
            let problem = "only the owner of a run approves a tool for good";
            let remedy = "approve once, for the run or for the same arguments; its owner may approve it for good later";
            return Err(RuleViolation::new(RULE, problem, remedy));
        }
        if matches!(decision, Decision::Ask { .. }) {
            let problem = "only the owner of a run asks its model back: the answer is theirs to see";
            return Err(RuleViolation::new(RULE, problem, "deny it and say why, or ask whoever asked you"));
        }
        Ok(())
    }

    /// Whether `by` may ask `to` to decide, or take that back.
    pub fn check_asking(&self, by: UserId, to: Option<UserId>) -> Result<(), SharingRefusal> {
        if by != self.owner {
            let problem = "who decides in another's place does not ask a third person";
            let remedy = "decide it, or tell its owner, who can take it back and ask somebody else";
            return Err(SharingRefusal::Forbidden(RuleViolation::new(RULE, problem, remedy)));
        }
        if to == Some(self.owner) { Err(nobody_found().into()) } else { Ok(()) }
    }
}

/// Refuses a name or id that is nobody's, several users', the system's or the owner's own. The answer is one for all of
/// them, so that it tells nothing about who there is.
pub fn nobody_found() -> RuleViolation {
    let problem = "there is no one other user here with that name or id";
    let remedy = "give the whole name as it is written here, or the id that they see in their own settings: user_…";
    RuleViolation::new(RULE, problem, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Grant;
    use crate::flow::execution::review::ApprovalScope;
    use crate::id::ItemId;

    const ANNA: UserId = UserId::from_bytes([1; 16]);
    const BEN: UserId = UserId::from_bytes([2; 16]);
    const CLEO: UserId = UserId::from_bytes([3; 16]);
    const NOW: Millis = Millis(7);

    fn asked(delegate: Option<UserId>) -> Delegation {
        Delegation { owner: ANNA, delegate, decided_by: None, is_open: true }
    }

    fn decided(by: UserId) -> Delegation {
        Delegation { decided_by: Some(by), is_open: false, ..asked(Some(BEN)) }
    }

    fn sees(delegation: Delegation) -> [bool; 3] {
        [ANNA, BEN, CLEO].map(|user| delegation.may_see(&Viewer::User(user), NOW))
    }

    #[test]
    fn br_step_006_who_was_asked_sees_the_question_while_it_is_theirs_holds() {
        assert_eq!(sees(asked(None)), [true, false, false]);
        assert_eq!(sees(asked(Some(BEN))), [true, true, false]);
        assert_eq!(sees(decided(BEN)), [true, true, false], "what they decided themselves");
        assert_eq!(sees(decided(ANNA)), [true, false, false]);
        assert_eq!(sees(Delegation { is_open: false, ..asked(Some(BEN)) }), [true, false, false], "it expired");
        let grant = Grant { item: ItemId::from_bytes([9; 16]), owner: BEN, until: Millis(100) };
        let looking = Viewer::Admin { user: CLEO, grant };
        assert!(!asked(Some(BEN)).may_see(&looking, NOW), "a grant on Ben's things does not open Anna's");
    }

    #[test]
    fn br_step_006_an_approval_for_good_in_anothers_place_refuses() {
        let approve = |scope| Decision::Approve { inputs: None, scope: Some(scope) };
        let by = |user, scope| asked(Some(BEN)).check_decision(user, &approve(scope));
        for scope in [ApprovalScope::Once, ApprovalScope::Run, ApprovalScope::SameArguments] {
            assert_eq!(by(BEN, scope), Ok(()));
        }
        assert_eq!(by(BEN, ApprovalScope::Always).unwrap_err().rule(), RULE);
        assert_eq!(by(ANNA, ApprovalScope::Always), Ok(()));
    }

    #[test]
    fn br_step_006_asking_anothers_model_back_refuses() {
        let ask = Decision::Ask { question: "Why Bern?".to_owned() };
        assert_eq!(asked(Some(BEN)).check_decision(ANNA, &ask), Ok(()));
        assert_eq!(asked(Some(BEN)).check_decision(BEN, &ask).unwrap_err().rule(), RULE);
    }

    #[test]
    fn br_step_006_asking_oneself_or_a_third_person_refuses() {
        assert_eq!(asked(None).check_asking(ANNA, Some(BEN)), Ok(()));
        assert_eq!(asked(Some(BEN)).check_asking(ANNA, Some(CLEO)), Ok(()));
        assert_eq!(asked(Some(BEN)).check_asking(ANNA, None), Ok(()));
        assert_eq!(asked(None).check_asking(ANNA, Some(ANNA)), Err(nobody_found().into()), "as for a name of nobody");
        for to in [Some(CLEO), None] {
            assert!(matches!(asked(Some(BEN)).check_asking(BEN, to), Err(SharingRefusal::Forbidden(_))), "{to:?}");
        }
    }
}
