//! Computes the progress of work in stages, as a percentage that only grows.
//!
//! How many stages there will be, and how long each takes, is not known before; so each takes half of what is left.

use skein_store::verify::Progress;

/// Percent of a whole, stage after stage.
#[derive(Debug, Default)]
pub(crate) struct StagedProgress {
    stage: &'static str,
    /// Where the stage began.
    base: i64,
    reached: i64,
}

impl StagedProgress {
    /// How far the whole is with this step; never all, because what ends is told by its outcome.
    pub(crate) fn with(&mut self, step: Progress) -> i64 {
        if step.stage != self.stage {
            (self.stage, self.base) = (step.stage, self.reached);
        }
        let share = (100 - self.base) / 2;
        self.reached = self.reached.max(self.base + share * step.percent() / 100);
        self.reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_only_grows_from_stage_to_stage_and_is_never_all() {
        let mut forward = StagedProgress::default();
        let steps =
            [("items", 1, 4), ("items", 4, 4), ("records", 9, 9), ("tables", 1, 7), ("tables", 0, 0), ("x", 1, 1)];
        let percents = steps.map(|(stage, done, total)| forward.with(Progress { stage, done, total }));
        assert_eq!(percents, [12, 49, 73, 74, 74, 86]);
        for _ in 0..100 {
            for stage in ["a", "b"] {
                assert!(forward.with(Progress { stage, done: 1, total: 1 }) < 100);
            }
        }
    }
}
