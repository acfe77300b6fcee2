//! Taking an earlier state up again: what was deleted is there once more, a change is taken back.
//!
//! Every state of a record can be reconstructed (rule MG-CORE-004), so the way back is a new version that says what an earlier one
//! said. Nothing that was destroyed on purpose comes back by it: the value of a secret is in no version.

use serde_json::Value;

use crate::garden::record::{Act, RecordContent, RecordType};
use crate::rule::RuleViolation;

/// What its owner may have back.
const RESTORABLE: [&str; 6] = ["Service", "Tool", "Process", "ServiceTemplate", "ToolTemplate", "StandingApproval"];

/// Whether a record of this type may say again what it said in `past`.
pub fn check(record_type: &RecordType, past: &RecordContent) -> Result<(), RuleViolation> {
    if record_type.as_str() == "Secret" {
        let remedy = "make another secret; what it is called can be changed by changing it";
        return Err(RuleViolation::new("BR-SECRET-001", "what a secret was is not kept with its value", remedy));
    }
    if !RESTORABLE.contains(&record_type.as_str()) {
        let problem = format!("records of type {record_type} are not restored");
        return Err(RuleViolation::new("MG-CORE-007", problem, "use the act made for it, such as changing it back"));
    }
    if is_gone(past) {
        let remedy = "name an earlier version, or delete it again";
        return Err(RuleViolation::new("MG-CORE-004", "in that version it was deleted", remedy));
    }
    Ok(())
}

/// A process is put away by deleting it, which asks who holds on to it (rule BR-PROCESS-008).
fn is_put_away(past: &RecordContent) -> bool {
    past.record_type.as_str() == "Process" && past.data.get("archived") == Some(&Value::Bool(true))
}

/// Why an earlier state cannot be taken up while something it names is gone, or hidden from its owner.
pub fn missing(kind: &str, name: &str) -> RuleViolation {
    let problem = format!("it named the {kind} {name}, which is not there any more");
    let remedy = match kind {
        "secret" => "make it anew with another secret: those that were deleted do not come back",
        _ => "restore that first, or ask its owner to share it",
    };
    RuleViolation::new("MG-CORE-004", problem, remedy)
}

/// Whether nobody found the record until now: it was deleted, or put away.
pub fn is_gone(content: &RecordContent) -> bool {
    content.is_deleted() || is_put_away(content)
}

/// What taking up a state is called: archiving a template is that, whichever way it is come to.
pub fn act(current: &RecordContent, next: &RecordContent) -> Act {
    let is_archived = |content: &RecordContent| content.data.get("archived") == Some(&Value::Bool(true));
    if is_archived(next) && !is_archived(current) { Act::Archived } else { Act::Restored }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::garden::record::DELETED_AT;

    fn content(record_type: &str, deleted: bool) -> RecordContent {
        let mut data = Map::from_iter([("name".to_owned(), json!("one"))]);
        if deleted {
            data.insert(DELETED_AT.to_owned(), json!("2026-11-16T10:00:00.000Z"));
        }
        RecordContent::new(RecordType::parse(record_type).unwrap(), data)
    }

    fn checked(record_type: &str, deleted: bool) -> Result<(), &'static str> {
        let past = content(record_type, deleted);
        check(&past.record_type, &past).map_err(|violation| violation.rule())
    }

    #[test]
    fn mg_core_004_a_state_of_every_kind_that_its_owner_may_have_back_holds() {
        for kind in RESTORABLE {
            assert_eq!(checked(kind, false), Ok(()), "{kind}");
        }
    }

    #[test]
    fn mg_core_004_a_state_in_which_it_was_deleted_refuses() {
        assert_eq!(checked("Tool", true), Err("MG-CORE-004"));
        let mut put_away = content("Process", false);
        put_away.data.insert("archived".to_owned(), json!(true));
        assert!(check(&put_away.record_type, &put_away).is_err());
    }

    #[test]
    fn a_template_that_is_archived_again_is_called_so() {
        let (living, mut archived) = (content("ToolTemplate", false), content("ToolTemplate", false));
        archived.data.insert("archived".to_owned(), json!(true));
        assert_eq!((act(&living, &archived), act(&archived, &living)), (Act::Archived, Act::Restored));
    }

    #[test]
    fn br_secret_001_what_a_secret_was_refuses() {
        assert_eq!(checked("Secret", false), Err("BR-SECRET-001"));
    }

    #[test]
    fn mg_core_007_what_has_its_own_way_back_refuses() {
        for kind in ["User", "ApiKey", "Conversation", "AllowedEndpoint", "SecretBinding", "Budget"] {
            assert_eq!(checked(kind, false), Err("MG-CORE-007"), "{kind}");
        }
    }
}
