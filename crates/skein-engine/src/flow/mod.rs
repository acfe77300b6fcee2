//! Processes: work as data, kept and judged here.
//!
//! Start at [`processes`] for how a process lives, at [`fitness`] for how it would fare now.

mod fitness;
mod processes;
mod targets;

pub use fitness::{Dependency, DependencyKind, ProcessFitness};
