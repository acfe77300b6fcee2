//! Figures as people read them: one line each while measuring, one Markdown table at the end.

use std::fmt;

use crate::comparison::{Comparison, median};

/// What a figure counts.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    PerSecond,
    Milliseconds,
    Microseconds,
    Megabytes,
    /// How many come with one thing.
    Each,
}

/// What is asked of a ratio or of a figure alone.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    AtLeast(f64),
    AtMost(f64),
    /// Reported, not judged.
    None,
}

/// One measured thing.
pub(crate) struct Line {
    what: String,
    ours: String,
    theirs: String,
    ratio: String,
    target: String,
    verdict: &'static str,
}

impl Line {
    /// Two sides, judged by the median of their ratios.
    pub(crate) fn compared(what: &str, unit: Unit, sides: &Comparison, target: Target) -> Self {
        let ratios = sides.ratios();
        let (low, high) =
            ratios.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), ratio| (low.min(*ratio), high.max(*ratio)));
        Self {
            what: what.to_owned(),
            ours: unit.spell(median(&sides.ours)),
            theirs: unit.spell(median(&sides.theirs)),
            ratio: format!("{:.2} ({low:.2}–{high:.2})", median(&ratios)),
            target: target.spell(|bound| format!("{bound}×")),
            verdict: target.verdict(median(&ratios)),
        }
    }

    /// Two sides, of which ours is judged by its own median.
    pub(crate) fn beside(what: &str, unit: Unit, sides: &Comparison, target: Target) -> Self {
        Self {
            target: target.spell(|bound| unit.spell(bound)),
            verdict: target.verdict(median(&sides.ours)),
            ..Self::compared(what, unit, sides, target)
        }
    }

    /// One side, judged by its median.
    pub(crate) fn limited(what: &str, unit: Unit, measured: &[f64], target: Target) -> Self {
        Self {
            what: what.to_owned(),
            ours: unit.spell(median(measured)),
            theirs: "–".to_owned(),
            ratio: "–".to_owned(),
            target: target.spell(|bound| unit.spell(bound)),
            verdict: target.verdict(median(measured)),
        }
    }

    /// Something that could not be measured here.
    pub(crate) fn unavailable(what: &str, reason: &str) -> Self {
        let nothing = || "–".to_owned();
        Self {
            what: what.to_owned(),
            ours: format!("not available: {reason}"),
            theirs: nothing(),
            ratio: nothing(),
            target: nothing(),
            verdict: "not measured",
        }
    }

    fn cells(&self) -> [&str; 6] {
        [&self.what, &self.ours, &self.theirs, &self.ratio, &self.target, self.verdict]
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [what, ours, theirs, ratio, target, verdict] = self.cells();
        write!(f, "{what:<62} {ours:>16} {theirs:>16} {ratio:>19} {target:>12}  {verdict}")
    }
}

impl Unit {
    pub(crate) fn spell(self, value: f64) -> String {
        match self {
            Self::PerSecond => format!("{}/s", grouped(&format!("{value:.0}"))),
            Self::Milliseconds => format!("{value:.2} ms"),
            Self::Microseconds => format!("{value:.0} µs"),
            Self::Megabytes => format!("{value:.1} MB"),
            Self::Each => format!("{value:.2}"),
        }
    }
}

/// The digits of a whole number with a comma before each three.
pub(crate) fn grouped(digits: &str) -> String {
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(String::from_utf8_lossy).collect::<Vec<_>>().join(",")
}

impl Target {
    fn spell(self, bound: impl Fn(f64) -> String) -> String {
        match self {
            Self::AtLeast(least) => format!("≥ {}", bound(least)),
            Self::AtMost(most) => format!("≤ {}", bound(most)),
            Self::None => "–".to_owned(),
        }
    }

    fn verdict(self, value: f64) -> &'static str {
        let is_met = match self {
            Self::AtLeast(least) => value >= least,
            Self::AtMost(most) => value <= most,
            Self::None => return "reported",
        };
        if is_met { "met" } else { "MISSED" }
    }
}

/// All lines, as the table that goes into the documentation.
#[derive(Default)]
pub(crate) struct Report(Vec<Line>);

impl Report {
    pub(crate) fn add(&mut self, line: Line) {
        self.0.push(line);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| measured | Skein | beside it | ratio (lowest–highest) | target | |")?;
        writeln!(f, "| --- | --: | --: | --: | --: | --- |")?;
        self.0.iter().try_for_each(|line| writeln!(f, "| {} |", line.cells().join(" | ")))
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Target, Unit};
    use crate::comparison::Comparison;

    #[test]
    fn a_ratio_is_judged_by_its_median() {
        let sides = Comparison { ours: vec![5_000.0, 9_000.0, 6_000.0], theirs: vec![10_000.0; 3] };
        let line = Line::compared("x", Unit::PerSecond, &sides, Target::AtLeast(0.5));
        let expected = ["x", "6,000/s", "10,000/s", "0.60 (0.50–0.90)", "≥ 0.5×", "met"];
        assert_eq!(line.cells(), expected);
    }

    #[test]
    fn a_figure_with_another_beside_it_is_judged_alone() {
        let sides = Comparison { ours: vec![9.0], theirs: vec![3.0] };
        let line = Line::beside("x", Unit::Milliseconds, &sides, Target::AtMost(10.0));
        assert_eq!(line.cells(), ["x", "9.00 ms", "3.00 ms", "3.00 (3.00–3.00)", "≤ 10.00 ms", "met"]);
    }

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!(Unit::PerSecond.spell(1_234_567.4), "1,234,567/s");
        assert_eq!(Unit::PerSecond.spell(999.0), "999/s");
    }

    #[test]
    fn a_missed_limit_is_shouted() {
        let line = Line::limited("x", Unit::Milliseconds, &[2.0], Target::AtMost(1.0));
        assert_eq!(line.cells(), ["x", "2.00 ms", "–", "–", "≤ 1.00 ms", "MISSED"]);
    }
}
