//! Stores executions: rows with their present state, beside the items with their history.
//!
//! The rows are operational: a run that ended long ago loses them, and its facts are enough to tell it again.

pub mod call_dependencies;
mod execution_prefetch;
mod executions;
mod generations;
mod projection;
mod redaction;
mod reviews;
mod stream_chunks;

pub(crate) use execution_prefetch::ExecutionPrefetch;
pub use executions::{ExecutionFilter, ExecutionRow, NewExecution, StepRow};
pub use generations::ExecutionCall;
pub use projection::LastCall;
pub use reviews::{DueReview, NewReview, ReviewRow, ReviewStatus};
pub use stream_chunks::StreamChunk;
