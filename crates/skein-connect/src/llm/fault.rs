//! Lists the failures of a call to a model, as causes a person can act on.
//!
//! Providers say the same thing in many ways; `refusal.rs` sorts their words into these. What a fault carries of
//! them (`said`) is short, printable and free of the secret in use.

use std::fmt;
use std::time::Duration;

use crate::http::CallFault;

/// How much of a provider's own words is repeated, in characters.
const SAID_CHARACTERS_MAX: usize = 500;

/// Why no answer came, or not all of it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LlmFault {
    #[error("the provider does not accept the key{0}")]
    Authentication(ProviderMessage),
    #[error("the provider does not let this key do that{0}")]
    Permission(ProviderMessage),
    #[error("the account at the provider has no quota or credit left{0}")]
    Quota(ProviderMessage),
    #[error("the provider limits how often it is asked{said}")]
    RateLimited { retry_after: Option<Duration>, said: ProviderMessage },
    #[error("the conversation is longer than the model can take in{0}")]
    ContextLength(ProviderMessage),
    #[error("the provider's content filter refused the question{0}")]
    ContentFilter(ProviderMessage),
    #[error("the provider is overloaded{said}")]
    Overloaded { retry_after: Option<Duration>, said: ProviderMessage },
    #[error("the provider has no model {model:?}{said}")]
    ModelNotFound { model: String, said: ProviderMessage },
    #[error("the provider refused the request with status {status}{said}")]
    Refused { status: u16, said: ProviderMessage },
    #[error("the provider failed with status {status}{said}")]
    ProviderFailed { status: u16, said: ProviderMessage },
    #[error("the answer broke off: {0}")]
    BrokenStream(StreamBreak),
    #[error("the answer is larger than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("the answer was not understood{0}")]
    NotUnderstood(ProviderMessage),
    #[error("{0}")]
    Unsupported(String),
    #[error(transparent)]
    Call(#[from] CallFault),
}

/// How a stream broke after it had begun.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StreamBreak {
    #[error("the provider closed the stream before its end")]
    EndedEarly,
    #[error("the connection was lost ({0})")]
    Lost(String),
    #[error("{0}")]
    Reported(Box<LlmFault>),
}

/// A provider's own words, made fit to be shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProviderMessage(String);

impl ProviderMessage {
    pub fn new(words: &str) -> Self {
        let printable = words.chars().map(|each| if each.is_control() { ' ' } else { each }).collect::<String>();
        let mut words = printable.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((cut, _)) = words.char_indices().nth(SAID_CHARACTERS_MAX) {
            words.truncate(cut);
            words.push('…');
        }
        Self(words)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProviderMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ": {}", self.0) }
    }
}

impl LlmFault {
    pub(crate) fn not_understood(problem: impl AsRef<str>) -> Self {
        Self::NotUnderstood(ProviderMessage::new(problem.as_ref()))
    }

    /// The same without the provider's own words, which may quote what it was sent.
    #[must_use]
    pub fn unquoted(self) -> Self {
        let said = ProviderMessage::default();
        match self {
            Self::Authentication(_) => Self::Authentication(said),
            Self::Permission(_) => Self::Permission(said),
            Self::Quota(_) => Self::Quota(said),
            Self::RateLimited { retry_after, .. } => Self::RateLimited { retry_after, said },
            Self::ContextLength(_) => Self::ContextLength(said),
            Self::ContentFilter(_) => Self::ContentFilter(said),
            Self::Overloaded { retry_after, .. } => Self::Overloaded { retry_after, said },
            Self::ModelNotFound { model, .. } => Self::ModelNotFound { model, said },
            Self::Refused { status, .. } => Self::Refused { status, said },
            Self::ProviderFailed { status, .. } => Self::ProviderFailed { status, said },
            Self::BrokenStream(StreamBreak::Reported(fault)) => {
                Self::BrokenStream(StreamBreak::Reported(Box::new(fault.unquoted())))
            }
            Self::NotUnderstood(_) => Self::NotUnderstood(said),
            other @ (Self::BrokenStream(_) | Self::TooLarge { .. } | Self::Unsupported(_) | Self::Call(_)) => other,
        }
    }

    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Authentication(_) => "llm_authentication",
            Self::Permission(_) => "llm_permission",
            Self::Quota(_) => "llm_quota",
            Self::RateLimited { .. } => "llm_rate_limited",
            Self::ContextLength(_) => "llm_context_length",
            Self::ContentFilter(_) => "llm_content_filter",
            Self::Overloaded { .. } => "llm_overloaded",
            Self::ModelNotFound { .. } => "llm_model_not_found",
            Self::Refused { .. } => "llm_refused",
            Self::ProviderFailed { .. } => "llm_provider_failed",
            Self::BrokenStream(_) => "llm_broken_stream",
            Self::TooLarge { .. } => "llm_too_large",
            Self::NotUnderstood(_) => "llm_not_understood",
            Self::Unsupported(_) => "llm_unsupported",
            Self::Call(fault) => fault.code(),
        }
    }

    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Authentication(_) => {
                "Check the secret of this service: that the key is whole, current and of this provider."
            }
            Self::Permission(_) => {
                "Ask the provider's account owner to allow this model or region, or choose another model."
            }
            Self::Quota(_) => {
                "Add credit or raise the limit in the provider's billing settings, or choose another service."
            }
            Self::RateLimited { .. } => "Wait a moment and try again; with many requests at once, send fewer.",
            Self::ContextLength(_) => {
                "Shorten what is sent (fold or prune earlier turns, attach less), or choose a model with a larger window."
            }
            Self::ContentFilter(_) => "Say it differently, or choose another model.",
            Self::Overloaded { .. } => "Try again in a minute, or choose another model.",
            Self::ModelNotFound { .. } => "Check the spelling of the model's name and that this key may use it.",
            Self::Refused { .. } => "Correct what the provider complains about in the tool's settings.",
            Self::ProviderFailed { .. } => "Try again; when it stays, look at the provider's status page.",
            Self::BrokenStream(StreamBreak::Reported(fault)) => fault.advice(),
            Self::BrokenStream(_) => "Try again; what had come by then is kept.",
            Self::TooLarge { .. } => "Ask for less at once, or set a limit of tokens.",
            Self::NotUnderstood(_) => {
                "Check the service's address (most end in /v1) and that its kind of API is the one chosen."
            }
            Self::Unsupported(_) => "Choose another model or another kind of API for this.",
            Self::Call(CallFault::Refused(_)) => "Ask an administrator to allow this address, or use another.",
            Self::Call(_) => "Check the service's address and that it runs, then try again.",
        }
    }

    /// Whether the same request may succeed later without anybody changing anything.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::BrokenStream(StreamBreak::Reported(fault)) => fault.is_retryable(),
            Self::Call(fault) => fault.is_retryable(),
            Self::RateLimited { .. }
            | Self::Overloaded { .. }
            | Self::ProviderFailed { .. }
            | Self::BrokenStream(StreamBreak::EndedEarly | StreamBreak::Lost(_)) => true,
            Self::Authentication(_)
            | Self::Permission(_)
            | Self::Quota(_)
            | Self::ContextLength(_)
            | Self::ContentFilter(_)
            | Self::ModelNotFound { .. }
            | Self::Refused { .. }
            | Self::TooLarge { .. }
            | Self::NotUnderstood(_)
            | Self::Unsupported(_) => false,
        }
    }

    /// How long the provider asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Overloaded { retry_after, .. } => *retry_after,
            Self::BrokenStream(StreamBreak::Reported(fault)) => fault.retry_after(),
            _ => None,
        }
    }
}
