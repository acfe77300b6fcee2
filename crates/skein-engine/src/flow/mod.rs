//! Processes: work as data, kept and judged; and their runs, begun, moved on and ended, each move in one transaction.
//!
//! Start at [`process::definitions`] for how a process lives and at [`process::health_report`] for how it would fare now; at [`execution::begin`] for how a run
//! starts. What a run does next is decided by `skein_core::flow::execution`; [`execution::transaction`] commits it together with everything
//! it asks for, and [`crate::jobs::worker_loop`] takes calls up, makes them and brings their results back.

pub(crate) mod answer;
pub(crate) mod execution;
pub(crate) mod process;
pub(crate) mod review;
#[cfg(test)]
pub(crate) mod simulation;
pub(crate) mod trace;

use skein_core::Viewer;

pub use crate::jobs::telemetry::{Telemetry, TelemetryCounts};
pub(crate) use crate::jobs::worker_loop::told;
pub use crate::jobs::worker_loop::{PoolSizes, WorkerPool};
pub(crate) use crate::jobs::worker_pool::WorkerPoolState;
pub use crate::metrics::tool_metrics::{LastFailure, TOOL_METRICS_MAX, ToolMetrics};
pub(crate) use answer::actor::AnsweringActor;
pub use answer::preview::{AnswerPreview, Inexact};
pub use answer::request::{ANSWERS_MAX, AnswerTarget, Answering, NewAnswers};
pub use execution::begin::ExecutionRequest;
pub use execution::branching::Branching;
pub use execution::lookup::{ShownExecution, ShownStep};
pub(crate) use execution::lookup::{cancel_all, cancel_of, lock_run_of};
pub(crate) use execution::streams::Streams;
pub use execution::streams::{StreamEvent, StreamListener, StreamPiece};
pub(crate) use execution::transaction::WorkerSlot;
pub(crate) use process::default_process::default_hint;
pub use process::default_process::{NamedProcess, ResolvedDefault};
pub(crate) use process::default_processes::{give, give_to_all};
pub(crate) use process::definitions::check_restored_process;
pub use process::health_report::{Dependency, DependencyKind, ProcessHealth};
pub(crate) use process::plan_cache::Plans;
pub(crate) use process::targets::Targets;
pub use review::approvals::ShownApproval;
pub(crate) use review::approvals::check_restored_approval;
pub use review::decisions::{NamedUser, ShownReview};
pub use review::delegation::Delegate;
pub use trace::cost::TotalCost;
pub use trace::generations::{CallSummary, GENERATIONS_MAX, Generation, Reasoning};
pub use trace::{TracedCall, TracedResult};

pub(crate) const SYSTEM: Viewer = Viewer::System("flow");
