//! Under which headings a record of the catalog is listed: one for every question that lists ask about its type.
//!
//! What is looked up has a column. Questions combine (which kind, enabled or not, archived or not), and an index for
//! every combination of columns is many indexes; one row for every combination a record answers to is a few short
//! rows, and every list is then a walk along one heading.

use serde_json::Value as Json;
use skein_core::garden::record::{RecordContent, RecordType};

/// Kinds are words such as `rest_api`; anything longer is none, in bytes.
const KIND_BYTES_MAX: usize = 64;

/// What lists ask about records of one type.
struct ListDefinition {
    record_type: &'static str,
    /// Where its kind stands in the data.
    kind: Option<&'static str>,
    has_enabled: bool,
    has_archived: bool,
}

const fn listing(
    record_type: &'static str,
    kind: Option<&'static str>,
    has_enabled: bool,
    has_archived: bool,
) -> ListDefinition {
    ListDefinition { record_type, kind, has_enabled, has_archived }
}

const LISTINGS: [ListDefinition; 10] = [
    listing("Service", Some("/type"), true, false),
    listing("Secret", Some("/type"), false, false),
    listing("Tool", Some("/operation/type"), true, false),
    listing("Process", None, true, true),
    listing("ServiceTemplate", Some("/type"), false, true),
    listing("ToolTemplate", Some("/operation/type"), false, true),
    listing("SecretBinding", None, false, false),
    listing("AllowedEndpoint", None, false, false),
    listing("StandingApproval", None, false, false),
    listing("DefaultProcess", None, false, false),
];

/// A question a list asks; what is `None` or false is not asked.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ListQuery<'a> {
    pub(crate) kind: Option<&'a str>,
    pub(crate) enabled: Option<bool>,
    pub(crate) only_unarchived: bool,
}

/// The heading that answers a question, or `None` when no record of the type can.
pub(crate) fn heading(record_type: &RecordType, question: &ListQuery<'_>) -> Option<String> {
    let listing = listing_of(record_type)?;
    let is_asked_in_vain = question.kind.is_some() && listing.kind.is_none()
        || question.kind.is_some_and(|kind| !is_kind(kind))
        || question.enabled.is_some() && !listing.has_enabled;
    if is_asked_in_vain {
        return None;
    }
    // What cannot be archived is not.
    Some(spell(listing, &ListQuery { only_unarchived: question.only_unarchived && listing.has_archived, ..*question }))
}

/// Every heading a record stands under.
pub(crate) fn headings_of(content: &RecordContent) -> Vec<String> {
    let Some(listing) = listing_of(&content.record_type) else { return Vec::new() };
    let is = |name: &str| content.data.get(name).and_then(Json::as_bool);
    let enabled = is("enabled").filter(|_| listing.has_enabled);
    let is_unarchived = listing.has_archived && is("archived") != Some(true);
    let mut headings = Vec::new();
    for kind in with_none(kind_of(listing, content)) {
        for enabled in with_none(enabled) {
            for only_unarchived in with_none(is_unarchived.then_some(true)) {
                let only_unarchived = only_unarchived.is_some();
                headings.push(spell(listing, &ListQuery { kind, enabled, only_unarchived }));
            }
        }
    }
    headings
}

fn with_none<T>(value: Option<T>) -> impl Iterator<Item = Option<T>> {
    std::iter::once(None).chain(value.map(Some))
}

fn listing_of(record_type: &RecordType) -> Option<&'static ListDefinition> {
    LISTINGS.iter().find(|listing| listing.record_type == record_type.as_str())
}

fn kind_of<'a>(listing: &ListDefinition, content: &'a RecordContent) -> Option<&'a str> {
    let mut steps = listing.kind?.split('/').skip(1);
    let first = content.data.get(steps.next()?)?;
    steps.try_fold(first, |value, step| value.get(step))?.as_str().filter(|kind| is_kind(kind))
}

fn is_kind(text: &str) -> bool {
    (1..=KIND_BYTES_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn spell(listing: &ListDefinition, question: &ListQuery<'_>) -> String {
    let mut heading = listing.record_type.to_owned();
    if let Some(kind) = question.kind {
        heading.push('/');
        heading.push_str(kind);
    }
    heading.push_str(match question.enabled {
        None => "",
        Some(true) => " enabled",
        Some(false) => " disabled",
    });
    if question.only_unarchived {
        heading.push_str(" unarchived");
    }
    heading
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn content(record_type: &str, data: Json) -> RecordContent {
        let Json::Object(data) = data else { panic!("{data} is not an object") };
        RecordContent::new(RecordType::parse(record_type).unwrap(), data)
    }

    #[test]
    fn a_record_stands_under_a_heading_for_every_question() {
        let service = content("Service", json!({ "type": "rest_api", "enabled": true, "archived": true }));
        let expected = ["Service", "Service enabled", "Service/rest_api", "Service/rest_api enabled"];
        assert_eq!(headings_of(&service), expected);
        let template = content("ToolTemplate", json!({ "operation": { "type": "rest_call" }, "archived": true }));
        assert_eq!(headings_of(&template), ["ToolTemplate", "ToolTemplate/rest_call"]);
        assert_eq!(headings_of(&content("Budget", json!({}))), Vec::<String>::new());
    }

    #[test]
    fn a_question_leads_to_a_heading_that_its_answers_stand_under() {
        let asked =
            |record_type: &str, question: ListQuery<'_>| heading(&RecordType::parse(record_type).unwrap(), &question);
        let unarchived = ListQuery { only_unarchived: true, ..ListQuery::default() };
        assert_eq!(asked("Tool", unarchived).as_deref(), Some("Tool"));
        assert_eq!(asked("ToolTemplate", unarchived).as_deref(), Some("ToolTemplate unarchived"));
        assert_eq!(asked("Secret", ListQuery { enabled: Some(true), ..unarchived }), None);
        assert_eq!(asked("Service", ListQuery { kind: Some("rest_api enabled"), ..unarchived }), None);
        assert_eq!(asked("Budget", unarchived), None);
    }
}
