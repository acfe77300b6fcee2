//! How the ways of finding are weighed against each other.
//!
//! Scores are added, not ranks: a way that knows nothing about a question has small scores everywhere and changes
//! little. Each is brought to its own standard deviation over what the question may see, so that the weights mean the
//! same for any corpus.

/// What each way of finding counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    pub words: f32,
    pub meaning: f32,
    /// Part of a direct neighbour's score that is added; a neighbour's neighbour gives half of that.
    pub neighbours: f32,
}

impl Default for Weights {
    /// Chosen by leaving one conversation out of a set of long ones.
    fn default() -> Self {
        Self { words: 0.5, meaning: 0.5, neighbours: 0.5 }
    }
}

/// The standard deviation of numbers of which `count - given` are zero.
pub(crate) fn spread(numbers: impl Iterator<Item = f32>, count: usize) -> f32 {
    let (sum, squares) = numbers.fold((0.0_f64, 0.0_f64), |(sum, squares), number| {
        (sum + f64::from(number), squares + f64::from(number) * f64::from(number))
    });
    let count = count.max(1) as f64;
    let mean = sum / count;
    ((squares / count - mean * mean).max(0.0).sqrt()) as f32
}

/// One over the spread; nothing when all numbers are alike.
pub(crate) fn inverse(spread: f32) -> f32 {
    if spread > 1e-6 { 1.0 / spread } else { 0.0 }
}
