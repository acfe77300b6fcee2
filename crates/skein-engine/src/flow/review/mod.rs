//! Reviews: pending decisions of people, standing approvals and delegation.

pub(crate) mod approvals;
pub(crate) mod decisions;
pub(crate) mod delegation;
pub(crate) mod model_filled;
