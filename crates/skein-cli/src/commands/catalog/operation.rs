//! Work that the server does after it has answered: asked for, followed, and its result.

use std::time::Duration;

use anyhow::anyhow;
use serde_json::{Value, json};
use skein_core::OperationId;
use skein_store::verify::Progress;

use crate::api_client::ApiCall;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::printable;
use crate::progress::Bar;
use crate::session::{OutputFormat, Session};

const LOOK_FIRST: Duration = Duration::from_millis(20);
const LOOK_EVERY_MAX: Duration = Duration::from_millis(500);

/// Asks for the work and waits for its result, with a bar on a terminal.
pub(super) fn carry_out(ask: &ApiCall, doing: &'static str, desk: &mut Session<'_>) -> Result<Value, Failure> {
    // Without a server somebody here has to do what is queued.
    desk.door()?.work();
    let accepted = desk.ask(ask)?;
    follow(accepted["operationId"].as_str().unwrap_or_default(), doing, desk)
}

/// Waits for the result of an operation, with a bar on a terminal.
pub(super) fn follow(id: &str, doing: &'static str, desk: &mut Session<'_>) -> Result<Value, Failure> {
    desk.door()?.work();
    let id = id.parse::<OperationId>().map_err(|_| {
        let error = anyhow!("the server did not say which operation to wait for");
        Failure::new(Exit::Failed, error, "install the version the server has")
    })?;
    let bar = Bar::new();
    let mut pause = LOOK_FIRST;
    loop {
        let operation = desk.ask(&ApiCall::get(format!("/operations/{id}")))?;
        if let Some(outcome) = outcome(&operation) {
            drop(bar);
            return outcome.or_else(|failure| tell_programs(&operation, failure, desk));
        }
        let done = operation["progress"].as_u64().unwrap_or_default();
        bar.show(Progress { stage: doing, done, total: 100 });
        desk.door()?.pause(pause);
        pause = (pause * 2).min(LOOK_EVERY_MAX);
    }
}

/// What came of it; `None` while it goes on.
fn outcome(operation: &Value) -> Option<Result<Value, Failure>> {
    match operation["status"].as_str() {
        Some("completed") => Some(Ok(operation["result"].clone())),
        Some("failed") => {
            let error = &operation["error"];
            let message = error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned);
            let rule = error["rule"].as_str().map(|rule| format!(" (rule {rule})")).unwrap_or_default();
            let error = anyhow!("{}", printable(&format!("{message}{rule}")));
            Some(Err(Failure::new(Exit::Problem, error, "the message says what failed; --json tells all there is")))
        }
        Some("cancelled") => {
            Some(Err(Failure::new(Exit::Problem, anyhow!("it was cancelled"), "ask for it again if it is still meant")))
        }
        _ => None,
    }
}

/// Programs get what went wrong as a document as well.
fn tell_programs(operation: &Value, failure: Failure, desk: &mut Session<'_>) -> Result<Value, Failure> {
    if desk.form == OutputFormat::Json {
        let told = json!({ "status": operation["status"], "error": operation["error"] });
        writeln!(desk.out, "{told:#}")?;
    }
    Err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api_client::ServerAddress;
    use crate::configuration::{Configuration, Environment, SettingsLayer};
    use crate::storage_location::StorageLocation;

    #[test]
    fn without_a_server_the_work_is_done_here() {
        let folder = tempfile::tempdir().unwrap();
        let environment: Environment = [("SKEIN_DIR".into(), folder.path().into())].into_iter().collect();
        let place =
            StorageLocation::resolve(&Configuration::resolve(None, SettingsLayer::new(), &environment).unwrap())
                .unwrap();
        let mut out = Vec::new();
        crate::commands::init::run(&place, &mut out).unwrap();
        let mut desk = Session::new(
            ServerAddress::Place { place: Box::new(place), key: None },
            None,
            OutputFormat::Json,
            &mut out,
        );
        let report = carry_out(&ApiCall::post("/verifications", json!({})), "verifying", &mut desk).unwrap();
        assert_eq!(report["ok"], true, "{report}");
        desk.close().unwrap();
    }

    #[test]
    fn an_operation_ends_with_its_result_or_with_what_went_wrong() {
        assert!(outcome(&json!({ "status": "processing", "progress": 40 })).is_none());
        assert!(outcome(&json!({ "status": "queued" })).is_none());
        let done = outcome(&json!({ "status": "completed", "result": { "output": 1 } })).unwrap();
        assert_eq!(done.unwrap(), json!({ "output": 1 }));
        let error = json!({ "message": "the address is not allowed", "rule": "BR-TOOL-003" });
        let failed = outcome(&json!({ "status": "failed", "error": error })).unwrap().unwrap_err();
        assert_eq!(failed.exit, Exit::Problem);
        assert_eq!(failed.error(), "the address is not allowed (rule BR-TOOL-003)");
        assert_eq!(outcome(&json!({ "status": "cancelled" })).unwrap().unwrap_err().exit, Exit::Problem);
    }
}
