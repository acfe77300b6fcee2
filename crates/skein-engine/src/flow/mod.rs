//! Carrying out processes: runs that are begun, moved on, and ended, each move in one transaction.
//!
//! What a run does next is decided by `skein_core::flow::execution`; [`mover`] commits it together with everything it
//! asks for. [`work`] takes calls up, makes them and brings their results back. Start at [`begin`] for how a run starts.

mod abilities;
mod answers;
mod begin;
mod call;
mod ending;
mod gifts;
mod mover;
mod plans;
mod reviews;
mod runs;
mod streams;
mod work;

use skein_core::Viewer;

pub use answers::{ANSWERS_MAX, Answering, NewAnswers, Wanted};
pub use begin::NewRun;
pub(crate) use gifts::{give, give_to_all};
pub(crate) use plans::Plans;
pub use reviews::ShownReview;
pub use runs::Branching;
pub use runs::{ShownRun, ShownStep};
pub use streams::Piece;
pub(crate) use streams::Streams;
pub use streams::{Heard, Listening};
pub(crate) use work::CrewState;
pub use work::{Crew, Pools};

const SYSTEM: Viewer = Viewer::System("flow");
