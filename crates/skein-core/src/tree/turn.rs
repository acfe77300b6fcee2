//! Who speaks at a turn, and as what (rule BR-TURN-005).

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    User,
    Agent,
    System,
}

/// What kind of turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnType {
    Message,
    ToolResult,
    Summary,
}
