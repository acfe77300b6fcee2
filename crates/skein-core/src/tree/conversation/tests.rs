//! Conversations made, changed, forked, folded and reopened.

use serde_json::{Value, json};

use super::*;

const PROCESS: RecordId = RecordId::from_bytes([2; 16]);
const PARENT: RecordId = RecordId::from_bytes([3; 16]);
const ORIGIN: ForkOrigin =
    ForkOrigin { conversation_id: PARENT, turn_id: TurnId::from_bytes([4; 16]), node_id: ItemId::from_bytes([5; 16]) };

fn made(draft: Value) -> Conversation {
    Conversation::create(serde_json::from_value(draft).unwrap(), None)
}

fn plain() -> Conversation {
    made(json!({}))
}

fn changed(conversation: &Conversation, change: Value) -> Result<Conversation, RuleViolation> {
    conversation.change(serde_json::from_value(change).unwrap())
}

fn summary(text: &str) -> FoldSummary {
    let cites = vec![Citation { node: ORIGIN.node_id, position: None }];
    let (author_id, author_type) = (ActorId::SYSTEM, AuthorType::System);
    FoldSummary { at: Millis(9), author_id, author_type, text: text.to_owned(), text_item: None, cites, end: None }
}

fn folded() -> Conversation {
    plain().fold(0, summary("It works.")).unwrap()
}

fn check_rule<T: fmt::Debug>(result: Result<T, RuleViolation>, rule: &str) {
    assert_eq!(result.unwrap_err().rule(), rule);
}

#[test]
fn conversations_are_kept_whole() {
    let draft = json!({ "title": "Plans", "mode": "buffer", "systemContext": "Be kind.", "contextBudget": 8_000 });
    let conversation = changed(&made(draft), json!({ "tags": ["b", "a"], "description": "x" })).unwrap();
    let fork = conversation.fork(ORIGIN, None).fold(0, summary("Done.")).unwrap();
    for kept in [conversation, fork] {
        assert_eq!(Conversation::from_data(&kept.to_data()), Some(kept.clone()));
        kept.to_content(false).check().unwrap();
    }
}

#[test]
fn br_conv_001_no_hint_or_an_enabled_process_holds() {
    assert!(plain().check_hint(None).is_ok());
    let hinted = changed(&plain(), json!({ "processId": PROCESS })).unwrap();
    assert!(hinted.check_hint(Some(true)).is_ok());
    assert_eq!(changed(&hinted, json!({ "processId": PROCESS })).unwrap(), hinted);
    assert_eq!(changed(&hinted, json!({ "processId": null })).unwrap(), plain());
}

#[test]
fn br_conv_001_a_disabled_or_unknown_process_refuses() {
    let hinted = made(json!({ "processId": PROCESS }));
    check_rule(hinted.check_hint(Some(false)), "BR-CONV-001");
    check_rule(hinted.check_hint(None), "BR-CONV-001");
}

#[test]
fn br_conv_002_a_change_of_owner_refuses() {
    check_rule(changed(&plain(), json!({ "ownerId": "user_x" })), "BR-CONV-002");
    check_rule(changed(&plain(), json!({ "userId": null })), "BR-CONV-002");
}

#[test]
fn br_conv_003_a_fork_names_its_origin_and_copies_preferences_holds() {
    let draft = json!({ "processId": PROCESS, "systemContext": "Be kind.", "mode": "buffer", "title": "Plans" });
    let parent = changed(&made(draft), json!({ "tags": ["a"] })).unwrap();
    let fork = parent.fork(ORIGIN, None);
    assert_eq!((fork.kind, fork.forked_from), (ConversationKind::Fork, Some(ORIGIN)));
    assert_eq!((fork.process_id, fork.mode, fork.project_id), (Some(PROCESS), Mode::Buffer, None));
    assert_eq!(fork.system_context, parent.system_context);
    assert_eq!(fork.title, None);
    assert!(fork.tags.is_empty());
    assert!(ORIGIN.check(Some((PARENT, ORIGIN.turn_id))).is_ok());
}

#[test]
fn br_conv_003_a_false_origin_or_its_change_refuses() {
    check_rule(ORIGIN.check(None), "BR-CONV-003");
    check_rule(ORIGIN.check(Some((PROCESS, ORIGIN.turn_id))), "BR-CONV-003");
    check_rule(ORIGIN.check(Some((PARENT, TurnId::from_bytes([9; 16])))), "BR-CONV-003");
    for change in [json!({ "forkedFrom": null }), json!({ "kind": "main" })] {
        check_rule(changed(&plain().fork(ORIGIN, None), change), "BR-CONV-003");
    }
}

#[test]
fn br_conv_005_archived_and_active_change_into_each_other_holds() {
    let archived = changed(&plain(), json!({ "status": "archived" })).unwrap();
    assert_eq!(changed(&archived, json!({ "status": "active" })).unwrap(), plain());
    assert!(archived.is_archived() && !plain().is_archived());
}

#[test]
fn br_conv_005_other_states_refuses() {
    assert!(serde_json::from_value::<ConversationChange>(json!({ "status": "deleted" })).is_err());
}

#[test]
fn br_conv_006_deleting_refuses() {
    assert_eq!(Conversation::refuse_deletion().rule(), "BR-CONV-006");
}

#[test]
fn ag_tree_002_empty_or_long_titles_refuses() {
    for title in ["", " ", "two\nlines", &"x".repeat(201)] {
        assert!(serde_json::from_value::<ConversationDraft>(json!({ "title": title })).is_err(), "{title:?}");
    }
}

#[test]
fn ag_tree_003_mode_is_chosen_at_creation_holds() {
    assert_eq!(plain().mode, Mode::Dialogue);
    assert_eq!(made(json!({ "mode": "buffer" })).mode, Mode::Buffer);
}

#[test]
fn ag_tree_003_a_change_of_mode_refuses() {
    check_rule(changed(&plain(), json!({ "mode": "dialogue" })), "AG-TREE-003");
}

#[test]
fn ag_tree_004_archiving_is_a_mark_that_is_taken_off_again_holds() {
    let archived = changed(&plain(), json!({ "status": "archived" })).unwrap();
    assert_eq!(changed(&archived, json!({ "status": "active" })).unwrap(), plain());
    assert_eq!(plain().tool_run(ORIGIN).kind, ConversationKind::ToolRun);
}

#[test]
fn mg_conv_002_a_branch_keeps_its_parent_and_item_holds() {
    let fork = plain().fork(ORIGIN, None);
    assert_eq!(changed(&fork, json!({ "title": "y" })).unwrap().forked_from, Some(ORIGIN));
}

#[test]
fn mg_conv_002_another_parent_refuses() {
    check_rule(changed(&plain(), json!({ "forkedFrom": ORIGIN })), "BR-CONV-003");
}

#[test]
fn mg_conv_003_a_branch_without_open_forks_is_folded_holds() {
    assert!(folded().is_folded() && !plain().is_folded());
}

#[test]
fn mg_conv_003_a_branch_with_open_forks_refuses() {
    check_rule(plain().fold(1, summary("x")), "MG-CONV-003");
}

#[test]
fn mg_conv_004_a_summary_has_time_author_text_and_citations_holds() {
    let data = Value::Object(folded().to_data());
    assert_eq!(data["summary"]["cites"], json!([ORIGIN.node_id]));
    assert_eq!(data["summary"]["at"], "1970-01-01T00:00:00.009Z");
    assert_eq!(data["summary"]["authorType"], "system");
}

#[test]
fn mg_conv_004_a_cited_fragment_refuses_and_a_stored_one_stays_readable() {
    let cites = vec![Citation { node: ORIGIN.node_id, position: Some(3) }];
    check_rule(plain().fold(0, FoldSummary { cites: cites.clone(), ..summary("x") }), "MG-CONV-004");
    let stored = Conversation { summary: Some(FoldSummary { cites, ..summary("x") }), ..plain() };
    assert_eq!(Conversation::from_data(&stored.to_data()), Some(stored));
}

#[test]
fn mg_proj_003_the_project_a_conversation_was_made_in_is_read_and_no_longer_written_holds() {
    let mut data = plain().to_data();
    assert!(!data.contains_key("projectId"));
    data.insert("projectId".to_owned(), json!(PARENT));
    let stored = Conversation::from_data(&data).unwrap();
    assert_eq!(stored.project_id, Some(PARENT));
    assert_eq!(stored.fork(ORIGIN, None).project_id, None);
}

#[test]
fn br_conv_003_copying_active_entities_refuses() {
    check_rule(Conversation::check_copying(Some(true)), "BR-CONV-003");
    assert!(Conversation::check_copying(Some(false)).is_ok() && Conversation::check_copying(None).is_ok());
}

#[test]
fn mg_conv_004_folding_without_words_refuses() {
    for blank in [" \n", "\u{200b}", "\u{2060}\u{feff}", "\u{ad}"] {
        check_rule(plain().fold(0, summary(blank)), "MG-CONV-004");
    }
    check_rule(plain().fold(0, summary(&"x".repeat(FOLD_TEXT_CHARS_MAX + 1))), "MG-CONV-004");
    check_rule(changed(&plain(), json!({ "summary": {} })), "MG-CONV-004");
    for text in ["item_x#1", "#1", "item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A#one"] {
        assert!(serde_json::from_value::<Citation>(json!(text)).is_err(), "{text} was taken for a citation");
    }
}

#[test]
fn mg_conv_006_reopening_makes_a_new_branch_that_sees_the_old_holds() {
    let old = folded();
    let new = old.reopen(PARENT, Some(ORIGIN)).unwrap();
    assert_eq!((new.continues, new.forked_from, new.kind), (Some(PARENT), Some(ORIGIN), ConversationKind::Fork));
    assert!(!new.is_folded() && old.is_folded());
    assert_eq!(old.reopen(PARENT, None).unwrap().kind, ConversationKind::Main);
}

#[test]
fn mg_conv_006_reopening_an_open_one_or_folding_twice_refuses() {
    check_rule(plain().reopen(PARENT, None), "MG-CONV-006");
    check_rule(folded().fold(0, summary("again")), "MG-CONV-006");
    check_rule(changed(&plain(), json!({ "continues": PARENT })), "MG-CONV-006");
}

#[test]
fn ag_tree_005_a_buffer_switches_its_system_context_off_holds() {
    let buffer = made(json!({ "mode": "buffer", "systemContext": "Be kind." }));
    assert!(buffer.shows_system_context());
    let off = changed(&buffer, json!({ "bufferModeSystemContext": false })).unwrap();
    assert!(!off.shows_system_context() && !off.fork(ORIGIN, None).shows_system_context());
    assert_eq!(changed(&off, json!({ "bufferModeSystemContext": null })).unwrap(), buffer);
}

#[test]
fn ag_tree_005_a_dialogue_without_its_system_context_refuses() {
    check_rule(changed(&plain(), json!({ "bufferModeSystemContext": false })), "AG-TREE-005");
    check_rule(made(json!({ "bufferModeSystemContext": true })).check_system_context(), "AG-TREE-005");
}
