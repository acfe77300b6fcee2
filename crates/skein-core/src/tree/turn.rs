//! Defines the speakers of a turn and the types of turns each of them has.

use crate::rule::RuleViolation;
use crate::tree::spelled_enum::words;

words! {
    /// On whose behalf a turn speaks.
    Speaker {
        User = "user",
        Agent = "agent",
        System = "system",
    }
}

words! {
    /// What a turn is in the conversation.
    TurnType {
        Message = "message",
        ToolResult = "tool_result",
        Summary = "summary",
    }
}

impl Speaker {
    /// What this speaker may say; the first is meant when nothing is stated (decision A33).
    pub const fn turn_types(self) -> &'static [TurnType] {
        match self {
            Self::User => &[TurnType::Message],
            Self::Agent => &[TurnType::Message, TurnType::ToolResult],
            Self::System => &[TurnType::Summary],
        }
    }

    /// The type of a turn by this speaker, as stated or by default (rule BR-TURN-005).
    pub fn turn_type(self, stated: Option<TurnType>) -> Result<TurnType, RuleViolation> {
        let allowed = self.turn_types();
        let turn_type = stated.unwrap_or(allowed[0]);
        if allowed.contains(&turn_type) {
            return Ok(turn_type);
        }
        let problem = format!("{self} does not speak a {turn_type}");
        let remedy = "user speaks message, agent message or tool_result, system summary; or leave turnType out";
        Err(RuleViolation::new("BR-TURN-005", problem, remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn br_turn_005_each_speaker_has_its_types_and_a_default_holds() {
        assert_eq!(Speaker::User.turn_type(None), Ok(TurnType::Message));
        assert_eq!(Speaker::Agent.turn_type(None), Ok(TurnType::Message));
        assert_eq!(Speaker::System.turn_type(None), Ok(TurnType::Summary));
        assert_eq!(Speaker::Agent.turn_type(Some(TurnType::ToolResult)), Ok(TurnType::ToolResult));
    }

    #[test]
    fn br_turn_005_any_other_pair_refuses() {
        for (speaker, turn_type) in [
            (Speaker::User, TurnType::ToolResult),
            (Speaker::User, TurnType::Summary),
            (Speaker::Agent, TurnType::Summary),
            (Speaker::System, TurnType::Message),
            (Speaker::System, TurnType::ToolResult),
        ] {
            assert_eq!(speaker.turn_type(Some(turn_type)).unwrap_err().rule(), "BR-TURN-005");
        }
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        assert_eq!(serde_json::to_string(&TurnType::ToolResult).unwrap(), "\"tool_result\"");
        assert_eq!(serde_json::from_str::<Speaker>("\"agent\"").unwrap(), Speaker::Agent);
        assert!(serde_json::from_str::<Speaker>("\"Agent\"").is_err());
    }
}
