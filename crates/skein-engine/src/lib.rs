//! Use cases: what people, agents and programs can ask of Skein, each as one method of [`Engine`].
//!
//! A method reads as load, decide (in `skein-core`), commit in one transaction, run effects. Who may do what is
//! decided here, so that every door (HTTP, command line) gives the same answer. The crate refuses to know
//! HTTP, terminals and SQL. Rooms are modules by the names `skein-core` uses; start at [`garden`] for facts and at
//! [`account`] for who is asking.

#![warn(missing_docs)]

pub mod account;
pub mod catalog;
mod compute;
mod engine;
mod error;
mod fault;
pub mod flow;
pub mod garden;
mod jobs;
pub mod memory;
mod metrics;
mod progress;
mod request;
mod revision_cache;
mod settings;
mod tool_call;
pub mod tree;

pub use account::{Caller, KeyText};
pub use compute::{COMPUTATIONS_MAX, COMPUTATIONS_PER_USER, Compute, ComputeError};
pub use engine::Engine;
pub use error::EngineError;
pub use fault::halt_at;
pub use garden::bundles::{BundleImport, Download, ExportCut, ExportExtent, ImportCount};
pub use garden::disk_usage::DiskUsage;
pub use jobs::operations::{VERIFICATION, VerificationRequest, Worker};
pub use request::{CommittedChange, Outcome, Request, Reservation, ReservationOutcome, WholeOutcome};
pub use revision_cache::RevisionCache;
pub use settings::SettingState;
