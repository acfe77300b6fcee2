//! A run as it goes: its steps on standard error, its words on standard output, its questions to whoever is there.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use serde_json::Value;
use skein_core::ExecutionId;

use super::{drawing, review, words};
use crate::api_client::{ApiCall, EventStream, StreamEvent};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{printable, text};
use crate::session::{OutputFormat, Session};

const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How often in a row a stream may end before its run does.
const BREAKS_MAX: u32 = 20;

/// What is told while a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FollowOutput {
    /// Steps and words.
    Steps,
    /// Words alone, as in a talk.
    Words,
}

/// How the following ended.
pub(super) enum FollowOutcome {
    /// With the run; whether all that it said was told already.
    Run { whole: Value, is_told: bool },
    /// With a question that nobody here can be asked.
    Asking(Value),
    /// With a pause of this run that nobody can end while it is followed.
    Paused(String),
}

/// Follows a run to its end.
pub(super) fn follow(
    run: ExecutionId,
    telling: FollowOutput,
    desk: &mut Session<'_>,
) -> Result<FollowOutcome, Failure> {
    let mut following = Follower::of(run, telling, desk)?;
    loop {
        let heard = desk.door()?.hear(&mut following.ears, LOOK_EVERY)?;
        let has_ended = following.take(heard, desk)?;
        if !has_ended && following.looked.elapsed() < LOOK_EVERY {
            continue;
        }
        following.looked = Instant::now();
        let whole = desk.ask(&ApiCall::get(format!("/executions/{run}")))?;
        following.tell_steps(&whole, 0);
        if whole["status"] != "running" {
            return following.end(whole, desk);
        }
        if let Some(open) = following.settle_reviews(&whole, desk)? {
            return Ok(FollowOutcome::Asking(open));
        }
        if let Some(paused) = following.tell_pause(&whole)
            && desk.door()?.is_here()
            && !goes_on(&whole)
        {
            return Ok(FollowOutcome::Paused(paused));
        }
        if has_ended {
            following.listen_again(desk)?;
        }
    }
}

/// What a run came to, if it did not come out: the step, the reason, and what to do.
pub(super) fn outcome(whole: &Value) -> Result<(), Failure> {
    match whole["status"].as_str() {
        Some("completed") => Ok(()),
        Some("cancelled") => {
            let error = anyhow!("the run was cancelled");
            Err(Failure::new(Exit::Problem, error, "skein execution resume RUN begins again where it stopped"))
        }
        _ => Err(failed(&whole["error"])),
    }
}

fn failed(error: &Value) -> Failure {
    let step = match (error["step"].as_u64(), error["stepId"].as_str()) {
        (Some(number), Some(id)) => format!("step {number} ({id}): "),
        _ => String::new(),
    };
    let rule = error["rule"].as_str().map(|rule| format!(" (rule {rule})")).unwrap_or_default();
    let told = anyhow!("{}", printable(&format!("{step}{}{rule}", text(&error["message"]))));
    let advice = error["suggestedAction"].as_str().filter(|advice| !advice.is_empty()).map(printable);
    Failure::new(Exit::Problem, told, "skein execution show RUN tells every step").advised(advice)
}

struct Follower {
    run: ExecutionId,
    telling: FollowOutput,
    ears: EventStream,
    /// The last piece heard.
    after: Option<String>,
    breaks: u32,
    looked: Instant,
    /// What was said since it last began anew.
    said: String,
    /// Words are shown as they come only where somebody watches; elsewhere the whole is written once it is whole.
    is_watched: bool,
    phases: BTreeMap<(String, String), String>,
    paused: Option<String>,
    settled: BTreeSet<String>,
}

impl Follower {
    fn of(run: ExecutionId, telling: FollowOutput, desk: &mut Session<'_>) -> Result<Self, Failure> {
        let ears = desk.door()?.listen(&stream(run, None))?;
        let is_watched = desk.form != OutputFormat::Json && std::io::stdout().is_terminal();
        let (after, said, phases, paused, settled) = Default::default();
        let looked = Instant::now();
        Ok(Self { run, telling, ears, after, breaks: 0, looked, said, is_watched, phases, paused, settled })
    }

    /// Says what was heard; whether that was the end of the stream.
    fn take(&mut self, heard: StreamEvent, desk: &mut Session<'_>) -> Result<bool, Failure> {
        let event = match heard {
            StreamEvent::Silence => return Ok(false),
            StreamEvent::End => return Ok(true),
            StreamEvent::Event(event) => event,
        };
        self.breaks = 0;
        self.after = event.id.or(self.after.take());
        match event.name.as_str() {
            "end" => return Ok(true),
            "reset" => {
                if self.is_watched && !self.said.is_empty() {
                    writeln!(desk.out, "\n(it begins anew)")?;
                }
                self.said.clear();
            }
            _ => {
                let piece = event.data["text"].as_str().unwrap_or_default();
                if self.is_watched {
                    write!(desk.out, "{}", printable(piece))?;
                    desk.out.flush()?;
                }
                self.said.push_str(piece);
            }
        }
        Ok(false)
    }

    /// The server may have been started anew: what was heard already is not said again.
    fn listen_again(&mut self, desk: &mut Session<'_>) -> Result<(), Failure> {
        self.breaks += 1;
        if self.breaks > BREAKS_MAX {
            let error = anyhow!("the stream of {} keeps ending, though it goes on", self.run);
            return Err(Failure::new(Exit::Unavailable, error, "skein execution show RUN tells how it stands"));
        }
        desk.door()?.pause(LOOK_EVERY);
        self.ears = desk.door()?.listen(&stream(self.run, self.after.as_deref()))?;
        Ok(())
    }

    /// A line for each step that came further, below it what the runs it started did.
    fn tell_steps(&mut self, whole: &Value, depth: usize) {
        let run = text(&whole["id"]);
        for step in whole["steps"].as_array().into_iter().flatten() {
            let key = (run.clone(), text(&step["id"]));
            let phase = text(&step["phase"]);
            if phase == "waiting" || self.phases.get(&key) == Some(&phase) {
                continue;
            }
            self.phases.insert(key, phase);
            if self.telling == FollowOutput::Steps {
                self.break_line();
                eprintln!("{}{}", "  ".repeat(depth + 1), drawing::step(step));
            }
        }
        for child in whole["children"].as_array().into_iter().flatten() {
            self.tell_steps(child, depth + 1);
        }
    }

    /// The run that is paused, it or one it started; said once for each pause.
    fn tell_pause(&mut self, whole: &Value) -> Option<String> {
        let paused = paused_in(whole);
        if let Some(run) = paused.as_ref().filter(|_| paused != self.paused) {
            self.break_line();
            eprintln!("It is paused. To let it go on: skein execution go-on {}", printable(run));
        }
        self.paused.clone_from(&paused);
        paused
    }

    /// A line of its own, where words stand on the one before.
    fn break_line(&self) {
        if self.is_watched && !self.said.is_empty() && !self.said.ends_with('\n') && std::io::stderr().is_terminal() {
            eprintln!();
        }
    }

    /// Asks what is to be decided; gives back what cannot be asked here while nobody else could answer it.
    fn settle_reviews(&mut self, whole: &Value, desk: &mut Session<'_>) -> Result<Option<Value>, Failure> {
        let mut ids = Vec::new();
        collect_reviews(whole, &mut ids);
        for id in ids {
            if self.settled.contains(&id) {
                continue;
            }
            let found = desk.ask(&ApiCall::get(format!("/reviews/{id}")))?;
            if found["status"] == "open" {
                if std::io::stdin().is_terminal() && matches!(desk.form, OutputFormat::People(_)) {
                    self.break_line();
                    review::ask_and_decide(&found, desk)?;
                } else if desk.door()?.is_here() {
                    return Ok(Some(found));
                } else {
                    eprintln!("It waits for a decision: skein review show {id}");
                }
            }
            self.settled.insert(id);
        }
        Ok(None)
    }

    fn end(mut self, whole: Value, desk: &mut Session<'_>) -> Result<FollowOutcome, Failure> {
        // What was said last may still be on its way.
        while let StreamEvent::Event(event) = desk.door()?.hear(&mut self.ears, LOOK_EVERY)? {
            if self.take(StreamEvent::Event(event), desk)? {
                break;
            }
        }
        let is_told = self.is_watched && !self.said.is_empty() && words(&whole["output"]) == printable(&self.said);
        if self.is_watched && !self.said.is_empty() {
            writeln!(desk.out)?;
        }
        Ok(FollowOutcome::Run { whole, is_told })
    }
}

fn stream(run: ExecutionId, after: Option<&str>) -> ApiCall {
    ApiCall::get(format!("/executions/{run}/stream")).with("after", after)
}

/// The outermost run of these that is paused.
fn paused_in(whole: &Value) -> Option<String> {
    if !whole["pausedAt"].is_null() {
        return Some(text(&whole["id"]));
    }
    whole["children"].as_array()?.iter().find_map(paused_in)
}

/// Whether a call is under way of a run that is not paused: that still ends by itself.
fn goes_on(whole: &Value) -> bool {
    let is_at_it = |step: &Value| matches!(step["phase"].as_str(), Some("calling" | "conversing"));
    let is_running = whole["status"] == "running" && whole["pausedAt"].is_null();
    is_running && whole["steps"].as_array().into_iter().flatten().any(is_at_it)
        || whole["children"].as_array().into_iter().flatten().any(goes_on)
}

fn collect_reviews(whole: &Value, ids: &mut Vec<String>) {
    ids.extend(whole["reviewIds"].as_array().into_iter().flatten().map(text));
    for child in whole["children"].as_array().into_iter().flatten() {
        collect_reviews(child, ids);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_failed_run_tells_the_step_the_reason_and_what_to_do() {
        let error = json!({ "step": 2, "stepId": "say", "message": "the tool is disabled", "rule": "BR-EXEC-003",
            "suggestedAction": "enable the tool, then resume the run" });
        let failure = outcome(&json!({ "status": "failed", "error": error })).unwrap_err();
        let expected =
            "error: step 2 (say): the tool is disabled (rule BR-EXEC-003)\nhint: enable the tool, then resume the run";
        assert_eq!((failure.exit, failure.to_string().as_str()), (Exit::Problem, expected));
    }

    #[test]
    fn only_a_completed_run_ends_well() {
        assert!(outcome(&json!({ "status": "completed" })).is_ok());
        assert_eq!(outcome(&json!({ "status": "cancelled" })).unwrap_err().exit, Exit::Problem);
        let vague = outcome(&json!({ "status": "failed", "error": { "message": "no" } })).unwrap_err();
        assert!(vague.to_string().starts_with("error: no\nhint: skein execution show"), "{vague}");
    }

    #[test]
    fn a_run_is_held_up_by_a_pause_below_it_unless_something_else_is_under_way() {
        let run = |paused: Value, phase: &str, children: Vec<Value>| {
            json!({ "id": format!("run_{phase}"), "status": "running", "pausedAt": paused,
                "steps": [{ "phase": phase }], "children": children })
        };
        let below = || run(json!("2026-01-31T12:00:00.000Z"), "calling", Vec::new());
        let held = run(Value::Null, "running", vec![below()]);
        assert_eq!((paused_in(&held).as_deref(), goes_on(&held)), (Some("run_calling"), false));
        assert!(goes_on(&run(Value::Null, "conversing", vec![below()])));
        assert_eq!(paused_in(&run(Value::Null, "calling", Vec::new())), None);
    }

    #[test]
    fn what_the_runs_below_ask_is_asked_too() {
        let mut ids = Vec::new();
        let whole = json!({ "reviewIds": ["a"], "children": [{ "reviewIds": ["b"], "children": [] }] });
        collect_reviews(&whole, &mut ids);
        assert_eq!(ids, ["a", "b"]);
    }
}
