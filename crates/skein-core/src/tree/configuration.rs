//! Defines the configuration of an actor: its model parameters and its permissions.
//!
//! Only what takes effect is accepted: a configuration of a model, and the default permissions. What was stored before that
//! was settled stays readable.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::rule::RuleViolation;
use crate::tree::actor::ActorType;
use crate::tree::short_text::Instructions;

/// Hottest sampling a model can be asked for.
pub const TEMPERATURE_MAX: f64 = 2.0;
/// Most tokens one answer can be asked for.
pub const ANSWER_TOKENS_MAX: u32 = 1_000_000;
/// Most stop sequences, and the longest of them in characters.
pub const STOP_SEQUENCES_MAX: usize = 16;
pub const STOP_SEQUENCE_CHARS_MAX: usize = 200;
/// Fields of a request that Skein writes itself, in any provider's words, and `n`: of several answers it reads the first.
const RESERVED_PARAMETERS: [&str; 16] = [
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "model",
    "n",
    "output_config",
    "prompt",
    "response_format",
    "stop",
    "stop_sequences",
    "stream",
    "stream_options",
    "system",
    "temperature",
    "tool_choice",
    "tools",
];

/// How a model is asked when this actor answers (`docs/decisions/0039-configuration-of-actors.md`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Configuration {
    /// Stands at the head of the context window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<Instructions>,
    /// Applies where the tool sets none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The least of this, the tool's and the step's applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Apply beside the tool's.
    pub stop_sequences: Vec<String>,
    /// Fields added to the request in the provider's words.
    pub custom_parameters: Map<String, Value>,
}

impl Configuration {
    /// Whether a field of a request is left to custom parameters.
    pub fn is_custom(name: &str) -> bool {
        !RESERVED_PARAMETERS.contains(&name)
    }

    /// Refuses what could not take effect: limits, names of fields that Skein writes, and any configuration of an actor that
    /// no model speaks for.
    pub(super) fn check(&self, actor_type: ActorType) -> Result<(), RuleViolation> {
        if actor_type != ActorType::Model && *self != Self::default() {
            let problem = format!("a configuration says how a model is asked, and this actor is of type {actor_type}");
            return Err(RuleViolation::new("AG-NODE-003", problem, "leave configuration out, or configure a model"));
        }
        if let Some(name) = self.custom_parameters.keys().find(|name| !Self::is_custom(name)) {
            let problem = format!("customParameters cannot set {name}, which Skein writes itself");
            return Err(RuleViolation::new(
                "AG-NODE-003",
                problem,
                "use the field of the configuration or of the tool",
            ));
        }
        let refuse = |problem: String| Err(RuleViolation::new("AG-NODE-003", problem, "correct the configuration"));
        if self.temperature.is_some_and(|temperature| !(0.0..=TEMPERATURE_MAX).contains(&temperature)) {
            return refuse(format!("temperature is a number from 0 to {TEMPERATURE_MAX}"));
        }
        if self.max_tokens.is_some_and(|tokens| !(1..=ANSWER_TOKENS_MAX).contains(&tokens)) {
            return refuse(format!("maxTokens is a number from 1 to {ANSWER_TOKENS_MAX}"));
        }
        let is_sequence = |text: &String| (1..=STOP_SEQUENCE_CHARS_MAX).contains(&text.chars().count());
        if self.stop_sequences.len() > STOP_SEQUENCES_MAX || !self.stop_sequences.iter().all(is_sequence) {
            let longest = STOP_SEQUENCE_CHARS_MAX;
            return refuse(format!("stopSequences are at most {STOP_SEQUENCES_MAX} of 1 to {longest} characters"));
        }
        Ok(())
    }
}

/// What an actor may do to trees (`loom…`) and documents (`doc…`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "five flags that are given one by one")]
pub struct Permissions {
    /// Sees that it stands in a tree.
    pub loom_aware: bool,
    pub loom_write: bool,
    pub loom_generate: bool,
    pub doc_read: bool,
    pub doc_write: bool,
}

impl Permissions {
    /// The default of a person.
    pub const ALL: Self =
        Self { loom_aware: true, loom_write: true, loom_generate: true, doc_read: true, doc_write: true };

    /// The permissions an actor has until others take effect.
    pub fn usual(actor_type: ActorType) -> Self {
        if actor_type == ActorType::Human { Self::ALL } else { Self::default() }
    }

    /// Refuses permissions other than the default: none of them has an effect yet.
    pub(super) fn check(self, actor_type: ActorType) -> Result<(), RuleViolation> {
        if self == Self::usual(actor_type) {
            return Ok(());
        }
        let problem = format!("permissions other than the default of a {actor_type} actor have no effect yet");
        Err(RuleViolation::new("AG-NODE-003", problem, "leave permissions out"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tree::actor::{Actor, ActorDraft};

    fn model() -> Value {
        json!({ "name": "Hugin", "type": "model", "modelRef": "anthropic:some-model" })
    }

    fn with(mut document: Value, name: &str, value: Value) -> ActorDraft {
        document[name] = value;
        serde_json::from_value(document).unwrap()
    }

    #[test]
    fn ag_node_003_configurations_within_limits_holds() {
        let configuration = json!({
            "systemPrompt": "Be brief.", "temperature": 2.0, "maxTokens": 50, "stopSequences": ["\n\n"], "customParameters": { "k": 1 },
        });
        assert!(Actor::create(with(model(), "configuration", configuration)).is_ok());
    }

    #[test]
    fn ag_node_003_configurations_beyond_limits_refuses() {
        for configuration in [
            json!({ "temperature": 2.1 }),
            json!({ "temperature": -0.1 }),
            json!({ "maxTokens": 0 }),
            json!({ "stopSequences": [""] }),
            json!({ "stopSequences": vec!["x"; 17] }),
        ] {
            assert!(Actor::create(with(model(), "configuration", configuration.clone())).is_err(), "{configuration}");
        }
    }

    #[test]
    fn ag_node_003_a_configuration_without_effect_refuses() {
        let warm = json!({ "temperature": 0.5 });
        for kind in ["human", "system"] {
            let actor = json!({ "name": "Ada", "type": kind });
            assert!(Actor::create(with(actor.clone(), "configuration", warm.clone())).is_err(), "{kind}");
            assert!(Actor::create(with(actor, "configuration", json!({}))).is_ok(), "{kind}");
        }
        for name in ["model", "messages", "max_tokens", "stream", "n"] {
            let custom = json!({ "customParameters": { name: 1 } });
            let refused = Actor::create(with(model(), "configuration", custom)).unwrap_err();
            assert_eq!(refused.rule(), "AG-NODE-003", "{name}");
        }
    }

    #[test]
    fn ag_node_003_permissions_other_than_the_default_refuses() {
        let create = |actor: Value, permissions: Value| Actor::create(with(actor, "permissions", permissions));
        let all = serde_json::to_value(Permissions::ALL).unwrap();
        let human = json!({ "name": "Ada", "type": "human" });
        assert_eq!(create(model(), json!({})).unwrap().permissions, Permissions::default());
        assert_eq!(create(human.clone(), all.clone()).unwrap().permissions, Permissions::ALL);
        for (actor, permissions) in [(model(), json!({ "loomAware": true })), (model(), all), (human, json!({}))] {
            assert_eq!(create(actor, permissions).unwrap_err().rule(), "AG-NODE-003");
        }
    }

    #[test]
    fn ag_node_003_what_was_stored_before_stays_until_it_is_changed_holds() {
        let stored = Actor {
            permissions: Permissions { loom_aware: true, ..Permissions::default() },
            configuration: Configuration { temperature: Some(0.5), ..Configuration::default() },
            ..Actor::create(with(json!({ "name": "Scribe" }), "type", json!("system"))).unwrap()
        };
        let change = |document: Value| stored.change(serde_json::from_value(document).unwrap(), false);
        assert_eq!(change(json!({ "name": "Clerk" })).unwrap().permissions, stored.permissions);
        let data = serde_json::to_value(&stored).unwrap();
        let same = json!({ "permissions": data["permissions"], "configuration": data["configuration"] });
        assert_eq!(change(same).unwrap(), stored);
        assert!(change(json!({ "permissions": {}, "configuration": {} })).is_ok());
        assert!(change(json!({ "permissions": { "docRead": true } })).is_err());
        assert!(change(json!({ "configuration": { "temperature": 1.0 } })).is_err());
    }
}
