//! Summarizes the latencies of calls: the median and the 95th percentile.

/// Of some calls, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latency {
    /// Half of the calls took no longer.
    pub p50_ms: f64,
    /// Nineteen of twenty took no longer.
    pub p95_ms: f64,
}

impl Latency {
    /// Nothing where nothing was measured. Both are times that were measured, none is made up between two.
    pub fn of(mut measured_ms: Vec<f64>) -> Option<Self> {
        measured_ms.sort_by(f64::total_cmp);
        Some(Self { p50_ms: at_share(&measured_ms, 50)?, p95_ms: at_share(&measured_ms, 95)? })
    }
}

/// The smallest that at least `percent` of all do not exceed.
fn at_share(sorted: &[f64], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::Latency;

    fn check(measured_ms: &[f64], expected: Option<(f64, f64)>) {
        let found = Latency::of(measured_ms.to_vec());
        assert_eq!(found.map(|latency| (latency.p50_ms, latency.p95_ms)), expected);
    }

    #[test]
    fn both_numbers_are_times_that_were_measured() {
        check(&[], None);
        check(&[7.0], Some((7.0, 7.0)));
        check(&[900.0, 10.0], Some((10.0, 900.0)));
        let twenty: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        check(&twenty, Some((10.0, 19.0)));
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        check(&hundred, Some((50.0, 95.0)));
    }
}
