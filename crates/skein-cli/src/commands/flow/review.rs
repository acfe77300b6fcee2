//! Deciding what a run waits for: as it was typed, or asked on the terminal.

use serde_json::{Map, Value, json};

use crate::api_client::ApiCall;
use crate::arguments::ApprovalScope;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{printable, text};
use crate::plan::{Verdict, json_of};
use crate::prompt::{Prompt, Terminal};
use crate::session::Session;
use crate::views::flow as views;

/// Says what was decided; the review as it is then.
pub(super) fn decide(review: &str, verdict: &Verdict, desk: &mut Session<'_>) -> Result<Value, Failure> {
    let body = match verdict {
        Verdict::Approve { changed, scope } => {
            let mut body = json!({ "decision": "approve" });
            if !changed.is_empty() {
                let found = desk.ask(&ApiCall::get(format!("/reviews/{review}")))?;
                body["inputs"] = Value::Object(with(&found, changed));
            }
            if let Some(scope) = scope {
                body["scope"] = scope.as_str().into();
            }
            body
        }
        Verdict::Deny(None) => json!({ "decision": "deny" }),
        Verdict::Deny(Some(reason)) => json!({ "decision": "deny", "reason": reason }),
        Verdict::Answer(value) => json!({ "decision": "answer", "value": value }),
        Verdict::Ask(question) => json!({ "decision": "ask", "question": question }),
    };
    desk.ask(&ApiCall::post(format!("/reviews/{review}/decide"), body))
}

/// The inputs that were asked about, some of them changed.
fn with(review: &Value, changed: &Map<String, Value>) -> Map<String, Value> {
    let mut inputs = review["asked"]["inputs"].as_object().cloned().unwrap_or_default();
    inputs.extend(changed.clone());
    inputs
}

/// Asks until something is decided that the server takes.
pub(super) fn ask_and_decide(review: &Value, desk: &mut Session<'_>) -> Result<(), Failure> {
    eprintln!("{}, step {}, asks:", text(&review["processName"]), printable(&text(&review["stepId"])));
    eprintln!("{}", printable(&views::asked(review)));
    loop {
        let verdict = match asked(review, &mut Terminal) {
            Ok(verdict) => verdict,
            Err(bad) if bad.exit == Exit::Usage => {
                eprintln!("{bad}");
                continue;
            }
            Err(failure) => return Err(failure),
        };
        match decide(&text(&review["id"]), &verdict, desk) {
            Ok(_) => return Ok(()),
            Err(refused) if refused.exit == Exit::Refused => eprintln!("{refused}"),
            // Somebody else was faster, or it has expired.
            Err(late) if late.exit == Exit::Conflict => {
                eprintln!("{}", late.error());
                return Ok(());
            }
            Err(failure) => return Err(failure),
        }
    }
}

/// What somebody wants, from a line or two.
fn asked(review: &Value, person: &mut dyn Prompt) -> Result<Verdict, Failure> {
    let kind = review["asked"]["kind"].as_str();
    if kind == Some("answer") {
        let schema = &review["asked"]["schema"];
        let line = person.line("Answer (/deny to give none): ")?;
        return match line.strip_prefix("/deny") {
            Some(reason) => Ok(Verdict::Deny(reason_of(reason))),
            None => value_of(schema, &line).map(Verdict::Answer),
        };
    }
    let (is_unknown, is_wish) = (matches!(kind, Some("unknown" | "unknownProcess")), kind == Some("wish"));
    let question = match kind {
        Some("unknown" | "unknownProcess") => {
            "Make it again (a), edit its inputs (e), say what came of it (s), or deny (d)? "
        }
        Some("wish") => "Approve (a), for the whole run (r), edit the inputs (e), ask back (q), or deny (d)? ",
        _ => "Approve (a), for the whole run (r), edit the inputs (e), or deny (d)? ",
    };
    loop {
        let line = person.line(question)?;
        match line.chars().next() {
            Some('a' | 'A' | 'y' | 'Y') => return Ok(approved(Map::new(), None)),
            Some('r' | 'R') if !is_unknown => return Ok(approved(Map::new(), Some(ApprovalScope::Run))),
            Some('e' | 'E') => return edited(review, person).map(|changed| approved(changed, None)),
            Some('s' | 'S') if is_unknown => {
                return json_of(&person.line("What came of it, as JSON: ")?).map(Verdict::Answer);
            }
            Some('q' | 'Q') if is_wish => return person.line("What do you want to know? ").map(Verdict::Ask),
            Some('d' | 'D' | 'n' | 'N') => return Ok(Verdict::Deny(reason_of(&person.line("Why not? ")?))),
            _ => {}
        }
    }
}

fn approved(changed: Map<String, Value>, scope: Option<ApprovalScope>) -> Verdict {
    Verdict::Approve { changed, scope }
}

/// Each input with what it is; an empty line leaves it so.
fn edited(review: &Value, person: &mut dyn Prompt) -> Result<Map<String, Value>, Failure> {
    let mut changed = Map::new();
    for (name, value) in review["asked"]["inputs"].as_object().into_iter().flatten() {
        let line = person.line(&format!("{} [{}]: ", printable(name), printable(&text(value))))?;
        if !line.is_empty() {
            let value = if value.is_string() { line.into() } else { json_of(&line)? };
            changed.insert(name.clone(), value);
        }
    }
    Ok(changed)
}

/// As words where words are asked for, else as JSON.
fn value_of(schema: &Value, line: &str) -> Result<Value, Failure> {
    let takes_words = match &schema["type"] {
        Value::Array(types) => types.iter().any(|one| one == "string"),
        Value::String(one) => one == "string",
        _ => false,
    };
    match json_of(line) {
        Ok(value) if !takes_words => Ok(value),
        Err(bad) if !takes_words && !schema["type"].is_null() => Err(bad),
        _ => Ok(line.into()),
    }
}

fn reason_of(words: &str) -> Option<String> {
    Some(words.trim()).filter(|words| !words.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use zeroize::Zeroizing;

    use super::*;

    struct TerminalReviewer(VecDeque<&'static str>);

    impl Prompt for TerminalReviewer {
        fn line(&mut self, _question: &str) -> Result<String, Failure> {
            Ok(self.0.pop_front().expect("something more is typed").to_owned())
        }

        fn hidden(&mut self, question: &str) -> Result<Zeroizing<String>, Failure> {
            self.line(question).map(Zeroizing::new)
        }
    }

    fn typed<const LINES: usize>(asked_about: &Value, lines: [&'static str; LINES]) -> Result<Verdict, Failure> {
        asked(&json!({ "asked": asked_about }), &mut TerminalReviewer(lines.into()))
    }

    #[test]
    fn a_call_is_approved_edited_or_denied() {
        let call = || json!({ "kind": "call", "toolId": "entity_1", "inputs": { "city": "Bern", "days": 3 } });
        assert_eq!(typed(&call(), ["", "what?", "a"]).unwrap(), approved(Map::new(), None));
        assert_eq!(typed(&call(), ["r"]).unwrap(), approved(Map::new(), Some(ApprovalScope::Run)));
        let edited = typed(&call(), ["edit", "Basel", ""]).unwrap();
        assert_eq!(edited, approved(Map::from_iter([("city".to_owned(), json!("Basel"))]), None));
        let edited = typed(&call(), ["e", "", "5"]).unwrap();
        assert_eq!(edited, approved(Map::from_iter([("days".to_owned(), json!(5))]), None));
        assert_eq!(typed(&call(), ["d", "too far"]).unwrap(), Verdict::Deny(Some("too far".to_owned())));
        assert_eq!(typed(&call(), ["no", ""]).unwrap(), Verdict::Deny(None));
    }

    #[test]
    fn only_a_model_is_asked_back() {
        let of = |kind: &str| json!({ "kind": kind, "toolId": "entity_1", "inputs": {} });
        assert_eq!(typed(&of("wish"), ["q", "Why Bern?"]).unwrap(), Verdict::Ask("Why Bern?".to_owned()));
        assert_eq!(typed(&of("call"), ["q", "a"]).unwrap(), approved(Map::new(), None));
    }

    #[test]
    fn an_answer_has_the_shape_that_is_asked_for() {
        let question = |schema: Value| json!({ "kind": "answer", "prompt": "How many?", "schema": schema });
        let number = || question(json!({ "type": "integer" }));
        assert_eq!(typed(&number(), ["11"]).unwrap(), Verdict::Answer(json!(11)));
        assert_eq!(typed(&number(), ["eleven"]).unwrap_err().exit, Exit::Usage);
        assert_eq!(typed(&question(json!({ "type": "string" })), ["11"]).unwrap(), Verdict::Answer(json!("11")));
        assert_eq!(typed(&question(json!({})), ["eleven"]).unwrap(), Verdict::Answer(json!("eleven")));
        assert_eq!(typed(&number(), ["/deny nobody knows"]).unwrap(), Verdict::Deny(Some("nobody knows".to_owned())));
    }

    #[test]
    fn edited_inputs_stand_among_those_that_were_asked_about() {
        let review = json!({ "asked": { "inputs": { "a": 1, "b": 2 } } });
        let changed = Map::from_iter([("b".to_owned(), json!(3))]);
        assert_eq!(Value::from(with(&review, &changed)), json!({ "a": 1, "b": 3 }));
    }
}
