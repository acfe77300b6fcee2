//! A set of steps of one process, by their numbers.
//!
//! A process has so few steps that a set of them is one machine word or two: following dependencies through all steps
//! costs one operation for each pair, however they are connected.

use crate::flow::step::STEPS_MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct StepSet(u128);

const _: () = assert!(STEPS_MAX <= u128::BITS as usize, "a bit for each step");

impl StepSet {
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a step is in both.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The steps in ascending order.
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        (0..STEPS_MAX).filter(move |at| self.0 >> at & 1 == 1)
    }
}

impl FromIterator<usize> for StepSet {
    /// Numbers are below [`STEPS_MAX`].
    fn from_iter<I: IntoIterator<Item = usize>>(steps: I) -> Self {
        Self(steps.into_iter().fold(0, |set, at| set | 1 << at))
    }
}
