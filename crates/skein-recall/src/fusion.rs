//! Weighs the scores of the retrievers against each other.
//!
//! Scores are added, not ranks: a way that knows nothing about a question has small scores everywhere and changes
//! little. Each is brought to its own standard deviation over what the question may see, so that the weights mean the
//! same for any corpus.

/// What each way of finding counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// The same words.
    pub words: f32,
    /// Words that are like those asked for, each by its nearest.
    pub likeness: f32,
    /// The text as a whole.
    pub meaning: f32,
    /// Being said by somebody the question names.
    pub speaker: f32,
    /// Part of a direct neighbour's score that is added; those further off give less.
    pub neighbours: f32,
}

impl Default for Weights {
    /// Chosen by leaving one conversation out of a set of long ones; a wide plateau around them does as well.
    fn default() -> Self {
        Self { words: 0.25, likeness: 0.5, meaning: 0.25, speaker: 1.5, neighbours: 0.5 }
    }
}

/// What a neighbour counts by how many turns it is away.
pub(crate) const BY_DISTANCE: [f32; 4] = [1.0, 0.6, 0.4, 0.2];

/// The mean and one over the standard deviation of one leg's scores over a world.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Scale {
    mean: f32,
    unit: f32,
}

impl Scale {
    /// Of `count` numbers, of which those not given are zero.
    #[expect(clippy::cast_precision_loss, reason = "rows are counted in 32 bits, which a double holds exactly")]
    #[expect(clippy::cast_possible_truncation, reason = "scores are single; the sums are double to keep their digits")]
    pub(crate) fn of(numbers: impl Iterator<Item = f32>, count: usize) -> Self {
        let (sum, squares) = numbers.fold((0.0_f64, 0.0_f64), |(sum, squares), number| {
            (sum + f64::from(number), squares + f64::from(number) * f64::from(number))
        });
        let count = count.max(1) as f64;
        let mean = sum / count;
        let spread = (squares / count - mean * mean).max(0.0).sqrt();
        let unit = if spread > SPREAD_MIN { 1.0 / spread } else { 0.0 };
        Self { mean: mean as f32, unit: unit as f32 }
    }

    /// In standard deviations above the mean; nothing when all numbers are alike.
    pub(crate) fn apply(self, number: f32) -> f32 {
        (number - self.mean) * self.unit
    }
}

/// Below this all scores are alike.
const SPREAD_MIN: f64 = 1e-6;
