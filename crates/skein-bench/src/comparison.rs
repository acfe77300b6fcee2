//! Two sides measured in turn, so that whatever else the machine does meets both.

use anyhow::Result;

/// What each round gave on each side, in the same unit.
pub(crate) struct Comparison {
    pub(crate) ours: Vec<f64>,
    pub(crate) theirs: Vec<f64>,
}

impl Comparison {
    /// Measures both sides in every round; who goes first changes.
    pub(crate) fn alternate(
        rounds: u32,
        mut ours: impl FnMut() -> Result<f64>,
        mut theirs: impl FnMut() -> Result<f64>,
    ) -> Result<Self> {
        let mut compared = Self { ours: Vec::new(), theirs: Vec::new() };
        for round in 0..rounds {
            if round % 2 == 0 {
                compared.ours.push(ours()?);
                compared.theirs.push(theirs()?);
            } else {
                compared.theirs.push(theirs()?);
                compared.ours.push(ours()?);
            }
        }
        Ok(compared)
    }

    /// Ours divided by theirs, per round: neighbours in time are what is comparable.
    pub(crate) fn ratios(&self) -> Vec<f64> {
        self.ours.iter().zip(&self.theirs).map(|(ours, theirs)| ours / theirs).collect()
    }
}

/// The middle one; of an even number, the mean of the two in the middle.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        _ if sorted.is_empty() => f64::NAN,
        0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
        _ => sorted[middle],
    }
}

/// What so many percent do not exceed.
pub(crate) fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::{Comparison, median, percentile};

    #[test]
    #[expect(clippy::float_cmp, reason = "halves are exact")]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "whole numbers are exact")]
    fn one_of_a_hundred_may_exceed_the_last_percentile() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!((percentile(&values, 50), percentile(&values, 99)), (100.0, 198.0));
        assert_eq!(percentile(&[7.0], 99), 7.0);
        assert!(percentile(&[], 99).is_nan());
    }

    #[test]
    fn a_ratio_compares_neighbours_in_time() {
        let ticks = std::cell::Cell::new(0.0);
        let measure = || {
            ticks.set(ticks.get() + 1.0);
            Ok(ticks.get())
        };
        let compared = Comparison::alternate(2, measure, measure).unwrap();
        assert_eq!(compared.ratios(), [1.0 / 2.0, 4.0 / 3.0]);
    }
}
