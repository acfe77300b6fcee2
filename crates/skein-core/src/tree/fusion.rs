//! One answer made of several: what a model is asked for that.

use std::fmt::Write as _;

use crate::rule::RuleViolation;
use crate::tree::visible_text::is_blank;

/// Fewest answers that can be made into one.
pub const FUSED_MIN: usize = 2;
/// Most answers that are made into one.
pub const FUSED_MAX: usize = 8;

const WISH: &str = "Below are several answers to what was said above. Make one answer of them. Keep what they agree on and what is \
    right and useful in each; leave out what is said twice; where they contradict each other, say so or decide by what was said \
    above; add nothing that none of them says. Reply with that answer alone.";

/// What a process is asked for, once there are answers enough and none is empty.
pub fn question(answers: &[String]) -> Result<String, RuleViolation> {
    if !(FUSED_MIN..=FUSED_MAX).contains(&answers.len()) {
        let problem = format!("{} answers cannot be made into one", answers.len());
        return Err(RuleViolation::new("BR-TURN-013", problem, "name two to eight of them"));
    }
    if answers.iter().any(|answer| is_blank(answer)) {
        let remedy = "name answers that say something, and that were not destroyed";
        return Err(RuleViolation::new("BR-TURN-013", "an answer says nothing", remedy));
    }
    let mut question = WISH.to_owned();
    for (number, answer) in (1..).zip(answers) {
        write!(question, "\n\n## Answer {number}\n\n{answer}").expect("text takes any text");
    }
    Ok(question)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn br_turn_013_two_to_eight_answers_that_say_something_are_made_into_one() {
        let answers = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let question = question(&answers(&["Eleven.", "Nine, two were cranes."])).unwrap();
        assert!(
            question.ends_with("\n\n## Answer 1\n\nEleven.\n\n## Answer 2\n\nNine, two were cranes."),
            "{question}"
        );
        for few in [vec![], answers(&["Eleven."]), answers(&["x"; 9]), answers(&["Eleven.", " \n"])] {
            assert_eq!(super::question(&few).unwrap_err().rule(), "BR-TURN-013", "{few:?}");
        }
    }
}
