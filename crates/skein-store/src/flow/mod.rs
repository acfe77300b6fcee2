//! Runs of processes as they are kept: rows that say where each stands, beside the facts that say what happened.
//!
//! The rows are operational: a run that ended long ago loses them, and its facts are enough to tell it again.

mod ahead;
mod chunks;
mod executions;
mod forget;
mod makings;
mod metrics;
mod project;
mod reviews;

pub(crate) use ahead::Ahead;
pub use chunks::Chunk;
pub use executions::{ExecutionFilter, ExecutionRow, NewExecution, StepRow};
pub use makings::CallOfRun;
pub use metrics::{LastMeasured, Measured};
pub use project::LastCall;
pub use reviews::{DueReview, NewReview, ReviewRow, ReviewStatus};
