//! Language models of any provider behind one interface.
//!
//! Pure parts first: what is asked and answered (`chat`), what can go wrong (`fault`), the providers' dialects
//! (`dialect`) and the reading of what they send (`reader`). Only `model` does I/O. Start at [`LanguageModel::chat`].

pub mod chat;
mod dialect;
mod draft;
pub mod fault;
mod model;
mod reader;
pub(crate) mod refusal;
mod sent;
pub mod sse;

pub use chat::{
    Attachment, ChatAnswer, ChatEvent, ChatFailure, ChatRequest, Dialect, Finish, ImagePart, Message, Part,
    RawResponse, ResponseFormat, ToolCall, ToolChoice, ToolDefinition, Usage, estimated_tokens,
};
pub use dialect::{BuiltRequest, Wording, build};
pub use fault::{LlmFault, Said, StreamBreak};
pub(crate) use model::address;
pub use model::{ChatStream, LIMITS, LanguageModel, Provider};
pub use reader::{AnswerReader, RESPONSE_BYTES_MAX};
pub use sent::{SentMessage, SentParameters, SentPart, SentRequest};
