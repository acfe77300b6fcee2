//! Processes: work as data, kept and judged; and their runs, begun, moved on and ended, each move in one transaction.
//!
//! Start at [`processes`] for how a process lives and at [`fitness`] for how it would fare now; at [`begin`] for how a run
//! starts. What a run does next is decided by `skein_core::flow::execution`; [`mover`] commits it together with everything
//! it asks for, and [`work`] takes calls up, makes them and brings their results back.

pub(crate) mod abilities;
mod answering_actor;
mod answers;
mod approvals;
mod authorship;
mod begin;
mod branching;
mod call;
mod children;
mod claimed;
mod crew;
mod default_process;
mod delegating;
mod ending;
mod fitness;
mod fusing;
mod gifts;
mod kept_words;
mod makings;
mod model_filled;
mod mover;
mod offers;
mod pausing;
mod plans;
mod preview;
mod processes;
mod refusals;
mod reviews;
mod rollback;
mod runs;
#[cfg(test)]
mod simulation;
mod spending;
mod streams;
mod targets;
mod telemetry;
mod tending;
mod timers;
mod tool_metrics;
mod tool_run;
mod trace;
mod work;

use skein_core::Viewer;

pub(crate) use answering_actor::AnsweringActor;
pub use answers::{ANSWERS_MAX, Answering, NewAnswers, Wanted};
pub use approvals::ShownApproval;
pub(crate) use approvals::check_restored_approval;
pub use begin::NewRun;
pub use branching::Branching;
pub(crate) use crew::CrewState;
pub(crate) use default_process::default_hint;
pub use default_process::{NamedProcess, ResolvedDefault};
pub use delegating::Delegate;
pub use fitness::{Dependency, DependencyKind, ProcessFitness};
pub(crate) use gifts::{give, give_to_all};
pub use makings::{MAKINGS_MAX, MadeCall, Making, Reasoning};
pub(crate) use mover::Hand;
pub(crate) use plans::Plans;
pub use preview::{AnswerPreview, Inexact};
pub(crate) use processes::check_restored_process;
pub use reviews::{Named, ShownReview};
pub use runs::{ShownRun, ShownStep};
pub(crate) use runs::{cancel_all, cancel_of, lock_run_of};
pub use spending::Spending;
pub(crate) use streams::Streams;
pub use streams::{Heard, Listening, Piece};
pub(crate) use targets::Targets;
pub use telemetry::{Telemetry, TelemetryCounts};
pub use tool_metrics::{LastFailure, TOOL_METRICS_MAX, ToolMetrics};
pub use trace::{TracedCall, TracedResult};
pub(crate) use work::told;
pub use work::{Crew, Pools};

const SYSTEM: Viewer = Viewer::System("flow");
