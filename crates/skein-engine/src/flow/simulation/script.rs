//! Draws the responses of services and the decisions of people from a seed, the same whoever reads them.

use serde_json::{Map, Value, json};
use skein_core::flow::execution::review::{Decision, ReviewRequest};

use crate::flow::simulation::SeededRandom;
use crate::flow::simulation::oracle::{ExternalError, Fault};

#[derive(Debug, Clone, Copy)]
pub(super) struct Script {
    pub(super) seed: u64,
}

impl Script {
    /// FNV-1a over everything that tells one call from another.
    fn dice(self, what: &str, at: &str, number: usize) -> SeededRandom {
        let text = format!("{what} {at} {number}");
        let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        SeededRandom(text.bytes().fold(self.seed ^ 0xcbf2_9ce4_8422_2325, fold))
    }

    pub(super) fn answer(self, at: &str, number: usize, inputs: &Map<String, Value>) -> Result<Value, ExternalError> {
        let said = format!("{at}.{number}");
        Ok(match self.dice("answer", at, number).below(24) {
            which @ 0..4 => return Err(trouble(which, &said)),
            4 => [json!(null), json!(""), json!([]), json!({})][number % 4].clone(),
            5 => json!(said),
            6 => json!({ "value": [said, 1, null] }),
            7 => json!({ "value": number, "more": { "said": said } }),
            8 => json!({ "value": null }),
            9..14 => json!({ "value": inputs.get("value") }),
            _ => json!({ "value": said }),
        })
    }

    /// A model tells what it was told, or asks for more.
    pub(super) fn says(self, at: &str, number: usize, told: &[Option<String>]) -> Result<Value, ExternalError> {
        let (mut dice, said) = (self.dice("model", at, number), format!("{at}.{number}"));
        match dice.below(12) {
            which @ 0..2 => Err(trouble(which, &said)),
            2..7 => {
                let wishes: Vec<Value> = (0..=dice.below(2))
                    .map(|wish| {
                        let name = ["echo", "once", "asked", "asked", "nobody"][dice.below(5)];
                        let arguments = json!({ "value": format!("{said}.{wish}") }).to_string();
                        json!({ "id": format!("{number}.{wish}"), "name": name, "arguments": arguments })
                    })
                    .collect();
                Ok(json!({ "text": said, "toolCalls": wishes }))
            }
            _ => {
                let told: Vec<&str> = told.iter().map(|told| told.as_deref().unwrap_or("nothing")).collect();
                Ok(json!({ "text": format!("{said} heard {}", told.join(", ")) }))
            }
        }
    }

    /// What a person decides; nothing where they let the time go by.
    pub(super) fn decision(self, at: &str, number: usize, asked: &ReviewRequest, may_expire: bool) -> Option<Decision> {
        let mut dice = self.dice("person", at, number);
        let said = format!("said at {at}.{number}");
        let chosen = dice.below(8);
        if chosen == 0 {
            return Some(Decision::Deny { reason: Some(said).filter(|_| dice.one_in(2)) });
        }
        if chosen == 1 && may_expire {
            return None;
        }
        Some(match asked {
            ReviewRequest::Answer { .. } => {
                let value = [json!(said), json!({ "value": said }), json!(number), json!("")][dice.below(4)].clone();
                Decision::Answer { value }
            }
            ReviewRequest::Wish { .. } if chosen == 2 => Decision::Ask { question: format!("{said}?") },
            ReviewRequest::Unknown { .. } | ReviewRequest::UnknownProcess { .. } if chosen < 5 => {
                Decision::Answer { value: json!({ "value": said }) }
            }
            ReviewRequest::Process { inputs, .. } | ReviewRequest::UnknownProcess { inputs, .. } => {
                let mut edited = inputs.clone();
                edited.insert("x".to_owned(), json!(said));
                Decision::Approve { inputs: Some(edited).filter(|_| chosen < 4), scope: None }
            }
            _ => {
                let edited = Map::from_iter([("value".to_owned(), json!(said))]);
                Decision::Approve { inputs: Some(edited).filter(|_| chosen < 4), scope: None }
            }
        })
    }
}

fn trouble(which: usize, said: &str) -> ExternalError {
    let (code, may_pass, is_uncertain) =
        [("timeout", true, true), ("server_error", true, false), ("bad_request", false, false)][which % 3];
    let fault =
        Fault { code: code.to_owned(), message: Some(format!("trouble at {said}")), may_pass, is_uncertain: false };
    ExternalError { fault, may_pass, is_uncertain }
}
