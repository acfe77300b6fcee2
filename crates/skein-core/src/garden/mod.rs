//! Defines items, records and relations, from which everything else in Skein is made.
//!
//! [`item`] is the immutable fact, [`record`] the mutable belief whose every change is a fact ([`delta`]),
//! [`relation`] the typed edge. [`seal`] chains facts so that a missing or altered one can be named;
//! [`undo`] and [`redaction`] are the two ways something stops being shown without being unmade.

pub mod audit;
pub mod cursor;
pub mod delta;
pub mod event;
pub mod fragment;
pub mod item;
pub mod patch;
pub mod project;
pub mod proof;
pub mod record;
pub mod redaction;
pub mod relation;
pub mod seal;
pub mod undo;
