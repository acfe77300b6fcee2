//! Tests that a shown definition can be sent back, and that only differences are sent.

use super::*;

fn tool() -> Value {
    json!({
        "id": "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A", "hash": "ab", "name": "Weather", "version": 3, "status": "healthy",
        "operation": { "type": "rest_call", "path": "/{{city}}" }, "enabled": true, "description": null,
        "serviceId": "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2B", "shared": false, "inputSchema": { "type": "object" },
    })
}

fn edited(edit: impl Fn(&str) -> String) -> Map<String, Value> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tool.yaml");
    let shown = tool();
    std::fs::write(&file, edit(&to_yaml(&Definition::of(Collection::Tools, &shown)).unwrap())).unwrap();
    Source::File(file).read().unwrap()
}

#[test]
fn a_definition_begins_with_what_it_is_an_edit_of() {
    let shown = tool();
    let yaml = to_yaml(&Definition::of(Collection::Tools, &shown)).unwrap();
    let lines: Vec<&str> = yaml.lines().collect();
    assert!(lines[0].starts_with("id: entity_") && lines[1].starts_with("hash: ab"), "{yaml}");
    assert_eq!(lines[2], "name: Weather", "{yaml}");
    assert!(!yaml.contains("status") && !yaml.contains("version") && !yaml.contains("description"), "{yaml}");
}

#[test]
fn an_unedited_definition_changes_nothing() {
    let same = edited(str::to_owned);
    refuse_what_a_definition_cannot_say(&same, &tool()).unwrap();
    assert!(difference(&tool(), same).is_empty());
}

#[test]
fn only_what_was_edited_is_sent() {
    let edited = edited(|yaml| yaml.replace("Weather", "Rain").replace("enabled: true", "enabled: false"));
    assert_eq!(Value::from(difference(&tool(), edited)), json!({ "name": "Rain", "enabled": false }));
    // What cannot change is for the server to refuse, with its rule.
    let moved = self::edited(|yaml| yaml.replace("X1Z2B", "X1Z2C"));
    assert_eq!(difference(&tool(), moved).keys().collect::<Vec<_>>(), ["serviceId"]);
}

#[test]
fn the_definition_of_something_else_is_refused() {
    let other = edited(|yaml| yaml.replace("X1Z2A", "X1Z2C"));
    assert_eq!(refuse_what_a_definition_cannot_say(&other, &tool()).unwrap_err().exit, Exit::Usage);
    let mut shared = edited(str::to_owned);
    shared.insert("shared".to_owned(), true.into());
    let refused = refuse_what_a_definition_cannot_say(&shared, &tool()).unwrap_err();
    assert!(refused.hint().contains("unshare"));
}
