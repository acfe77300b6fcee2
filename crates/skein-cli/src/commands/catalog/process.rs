//! Processes: judged before they are kept, looked at before they are run, and written down for another installation.

use axum::http::Method;
use serde_json::{Value, json};

use super::Definition;
use super::lookup::find;
use crate::api_client::ApiCall;
use crate::definition::to_yaml;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{printable, text};
use crate::plan::{Collection, DefaultChoice, NamedEntry, each_target};
use crate::session::{OutputFormat, Session};
use crate::views::catalog as views;

/// Each breach on a line of its own, whole: a table would cut it.
pub(super) fn validate(ask: &ApiCall, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let found = desk.ask(ask)?;
    if desk.form == OutputFormat::Json {
        writeln!(desk.out, "{found:#}")?;
    } else {
        for breach in found["breaches"].as_array().into_iter().flatten() {
            let [rule, problem, remedy] = ["rule", "problem", "remedy"].map(|name| printable(&text(&breach[name])));
            writeln!(desk.out, "{rule}: {problem}; {remedy}")?;
        }
    }
    if found["valid"] == true {
        desk.remark("Nothing is wrong with it.")?;
        return Ok(Exit::Ok);
    }
    if found["truncated"] == true {
        desk.remark("There is more wrong with it; mend these first.")?;
    }
    Ok(Exit::Problem)
}

pub(super) fn health(ask: &ApiCall, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let found = desk.ask(ask)?;
    desk.show_rows(&found, "dependencies", views::DEPENDENCIES.columns)?;
    for reason in found["reasons"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        desk.remark(&format!("The process itself: {}.", printable(reason)))?;
    }
    Ok(if found["status"] == "error" { Exit::Problem } else { Exit::Ok })
}

/// Where the API keeps the default process.
const DEFAULT_PROCESS: &str = "/account/default-process";

pub(super) fn choose_default(choice: &DefaultChoice, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let change = |process: Value| ApiCall::new(Method::PUT, DEFAULT_PROCESS).with_body(json!({ "processId": process }));
    let ask = match choice {
        DefaultChoice::Unchanged => ApiCall::get(DEFAULT_PROCESS),
        DefaultChoice::BuiltIn => change(Value::Null),
        DefaultChoice::Process(thing) => change(find(thing, desk)?.to_string().into()),
    };
    let found = desk.ask(&ask)?;
    match desk.form {
        OutputFormat::Json => writeln!(desk.out, "{found:#}")?,
        OutputFormat::Quiet => writeln!(desk.out, "{}", text(&found["process"]["id"]))?,
        OutputFormat::People(_) => writeln!(desk.out, "{}", told_default(&found))?,
    }
    Ok(Exit::Ok)
}

/// The default process with its id and name, and the reason it is not the chosen one; asked for by `skein chat` as well.
pub(crate) fn default_process(desk: &mut Session<'_>) -> Result<Value, Failure> {
    desk.ask(&ApiCall::get(DEFAULT_PROCESS))
}

/// Which process answers, and why the chosen one does not.
pub(crate) fn told_default(found: &Value) -> String {
    let name = |process: &Value| process["name"].as_str().map(printable);
    let answers = name(&found["process"]).unwrap_or_else(|| "No process".to_owned());
    match found["problem"].as_str().map(printable) {
        None => format!("{answers} answers in new conversations."),
        Some(problem) => {
            let chosen = name(&found["chosen"]).unwrap_or_else(|| "Your default process".to_owned());
            format!("{chosen} cannot answer: {problem}. Meanwhile {answers} answers with the built-in model.")
        }
    }
}

/// Ids mean nothing elsewhere, so things are named where one name stands for one thing.
pub(super) fn export(thing: &NamedEntry, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let path = format!("{}/{}", thing.shelf.path(), find(thing, desk)?);
    let mut shown = desk.ask(&ApiCall::get(path))?;
    each_target(shown.get_mut("steps"), &mut |shelf, target| {
        if let Some(name) = name_of(shelf, target, desk)? {
            *target = name.into();
        }
        Ok(())
    })?;
    for made_here in ["id", "hash"] {
        shown[made_here] = Value::Null;
    }
    let definition = Definition::of(Collection::Processes, &shown);
    match desk.form {
        OutputFormat::Json => {
            let written = serde_json::to_string_pretty(&definition).expect("a definition is plain JSON");
            writeln!(desk.out, "{written}")?;
        }
        OutputFormat::People(_) | OutputFormat::Quiet => write!(desk.out, "{}", to_yaml(&definition)?)?,
    }
    Ok(Exit::Ok)
}

/// What a thing is called, if that name leads back to it.
fn name_of(shelf: Collection, id: &Value, desk: &mut Session<'_>) -> Result<Option<String>, Failure> {
    let Some(id) = id.as_str() else { return Ok(None) };
    let named = match desk.ask(&ApiCall::get(format!("{}/{id}", shelf.path()))) {
        Ok(thing) => thing["name"].as_str().map(str::to_owned),
        Err(failure) if failure.exit == Exit::NotFound => None,
        Err(failure) => return Err(failure),
    };
    let Some(name) = named.filter(|name| !name.starts_with("entity_")) else { return Ok(None) };
    let leads_back = find(&NamedEntry::new(shelf, &name)?, desk).is_ok_and(|found| found.to_string() == id);
    Ok(leads_back.then_some(name))
}
