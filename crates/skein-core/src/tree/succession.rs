//! What may follow what in the history of a conversation, a project or an actor that somebody brings from elsewhere.
//!
//! Acts of Skein keep these rules by themselves. A history that comes in a file was made by whoever wrote the file: each
//! state has to be one of its kind, and none may undo what was settled for good.

use crate::catalog::entry::Entry;
use crate::garden::project::Project;
use crate::garden::record::RecordContent;
use crate::rule::RuleViolation;
use crate::tree::actor::Actor;
use crate::tree::conversation::Conversation;

/// Refuses a state that cannot follow the one before it.
pub fn check_succession(before: Option<&RecordContent>, after: &RecordContent) -> Result<(), RuleViolation> {
    if after.shared || after.is_deleted() {
        let problem = format!("a {} is never shared and never deleted", after.record_type);
        return Err(RuleViolation::new("BR-CONV-006", problem, "archive it instead"));
    }
    match after.record_type.as_str() {
        Conversation::RECORD_TYPE => {
            let after: Conversation = read(after)?;
            before.map(read::<Conversation>).transpose()?.map_or(Ok(()), |before| follows(&before, &after))
        }
        Project::RECORD_TYPE => {
            let after: Project = read(after)?;
            let before = before.map(read::<Project>).transpose()?;
            let is_kept = before.is_none_or(|before| before.is_default == after.is_default);
            refuse_unless(is_kept, "MG-PROJ-003", "which project is the default is settled when it is made")
        }
        Actor::RECORD_TYPE => {
            let after: Actor = read(after)?;
            let before = before.map(read::<Actor>).transpose()?;
            let is_kept = before.is_none_or(|before| before.actor_type == after.actor_type);
            refuse_unless(is_kept, "AG-NODE-003", "what an actor is, it stays")
        }
        _ => Ok(()),
    }
}

fn follows(before: &Conversation, after: &Conversation) -> Result<(), RuleViolation> {
    refuse_unless(before.mode == after.mode, "AG-TREE-003", "the mode of a conversation never changes")?;
    let origin = |of: &Conversation| (of.kind, of.forked_from, of.continues, of.project_id);
    refuse_unless(origin(before) == origin(after), "BR-CONV-003", "where a conversation comes from never changes")?;
    let is_kept = before.summary.is_none() || before.summary == after.summary;
    refuse_unless(is_kept, "MG-CONV-006", "a folded conversation stays folded, with the summary it has")
}

fn read<T: Entry>(content: &RecordContent) -> Result<T, RuleViolation> {
    T::from_data(&content.data).ok_or_else(|| {
        let problem = format!("this is not what a {} looks like", T::RECORD_TYPE);
        RuleViolation::new("MG-CORE-007", problem, REMEDY)
    })
}

const REMEDY: &str = "ask who runs this installation to import the bundle";

fn refuse_unless(holds: bool, rule: &'static str, problem: &str) -> Result<(), RuleViolation> {
    if holds { Ok(()) } else { Err(RuleViolation::new(rule, problem, REMEDY)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn content(record_type: &str, data: &Value) -> RecordContent {
        let record_type = crate::garden::record::RecordType::parse(record_type).unwrap();
        RecordContent::new(record_type, data.as_object().unwrap().clone())
    }

    fn conversation(more: &Value) -> RecordContent {
        let mut data = json!({ "mode": "dialogue", "kind": "main", "status": "active",
            "projectId": "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A", "tags": [] });
        for (name, value) in more.as_object().unwrap() {
            data[name] = value.clone();
        }
        content("Conversation", &data)
    }

    #[test]
    fn br_conv_003_what_people_do_with_a_conversation_follows_holds() {
        let first = conversation(&json!({}));
        assert!(check_succession(None, &first).is_ok());
        for next in [json!({ "status": "archived" }), json!({ "title": "Herons" }), json!({ "tags": ["a"] })] {
            assert!(check_succession(Some(&first), &conversation(&next)).is_ok());
        }
        let project = content("Project", &json!({ "name": "Garden", "isDefault": true }));
        assert!(check_succession(None, &project).is_ok() && check_succession(Some(&project), &project).is_ok());
    }

    #[test]
    fn br_conv_003_what_no_act_could_make_refuses() {
        let refused = |before: Option<&RecordContent>, after: &RecordContent| {
            check_succession(before, after).unwrap_err().rule().to_owned()
        };
        let first = conversation(&json!({}));
        let fold = json!({ "at": "2026-01-01T00:00:00.000Z", "authorId": "01HQ3K4N7Y8M2P5R6T9W0X1Z2A",
            "authorType": "human", "text": "Eleven.", "cites": [] });
        let folded = conversation(&json!({ "summary": fold }));
        assert_eq!(refused(Some(&first), &conversation(&json!({ "mode": "buffer" }))), "AG-TREE-003");
        assert_eq!(refused(Some(&first), &conversation(&json!({ "kind": "tool_run" }))), "BR-CONV-003");
        // A fork without its node would stand among the forks of somebody else's conversation.
        let stray = json!({ "forkedFrom": { "conversationId": "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2B" } });
        assert_eq!(refused(None, &conversation(&stray)), "MG-CORE-007");
        assert!(check_succession(Some(&first), &folded).is_ok());
        assert_eq!(refused(Some(&folded), &first), "MG-CONV-006");
        let shared = RecordContent { shared: true, ..conversation(&json!({})) };
        assert_eq!(refused(None, &shared), "BR-CONV-006");
        let project = |is_default: bool| content("Project", &json!({ "name": "Garden", "isDefault": is_default }));
        assert_eq!(refused(Some(&project(false)), &project(true)), "MG-PROJ-003");
    }
}
