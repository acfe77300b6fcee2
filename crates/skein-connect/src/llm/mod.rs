//! Language models of any provider behind one interface.
//!
//! Pure parts first: what is asked and answered (`chat`), what can go wrong (`fault`), the providers' dialects
//! (`dialect`) and the reading of what they send (`reader`). Only `model` does I/O. Start at [`LanguageModel::chat`].

mod answer_assembly;
mod answer_reader;
pub mod chat;
mod dialect;
pub mod fault;
mod model;
pub(crate) mod refusal;
mod sent_request;
pub mod sse;

pub use answer_reader::{AnswerReader, RESPONSE_BYTES_MAX};
pub use chat::{
    Attachment, ChatAnswer, ChatEvent, ChatFailure, ChatRequest, Dialect, Finish, ImagePart, Message, Part,
    RawResponse, ResponseFormat, ToolCall, ToolChoice, ToolDefinition, Usage, estimated_tokens,
};
pub use dialect::{BuiltRequest, Wording, build};
pub use fault::{LlmFault, ProviderMessage, StreamBreak};
pub(crate) use model::address;
pub use model::{ChatStream, LIMITS, LanguageModel, Provider};
pub use sent_request::{SentMessage, SentParameters, SentPart, SentRequest};
