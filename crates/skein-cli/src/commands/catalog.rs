//! Commands about services, tools, templates, secrets and the vault: requests to the API, a few of them in two steps.

mod lookup;
mod operation;
mod process;

use anyhow::anyhow;
use axum::http::Method;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

pub(crate) use self::lookup::find;
pub(crate) use self::process::{default_process, told_default};
use crate::api_client::ApiCall;
use crate::definition::{Source, to_yaml};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{printable, text};
use crate::plan::{CatalogTask, Change, Collection, NamedEntry, UnresolvedCatalogRequest, difference, resolve_targets};
use crate::secret_value::{self, SecretBody, SecretType, ValueSource};
use crate::session::{OutputFormat, Session};
use crate::views::{Sheet, catalog as views};

pub(crate) fn run(task: CatalogTask, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    match task {
        CatalogTask::Show { inquiry, sheet } => {
            let ask = complete(&inquiry, desk)?;
            ask_and_show(&ask, sheet, desk)
        }
        CatalogTask::ShowDefinition(thing) => show_definition(&thing, desk),
        CatalogTask::List { inquiry, list, portion: (amount, after) } => {
            let ask = complete(&inquiry, desk)?;
            desk.list(&ask, list.columns, amount, after)
        }
        CatalogTask::Rows { inquiry, list } => {
            let ask = complete(&inquiry, desk)?;
            desk.rows(&ask, "data", list.columns)
        }
        CatalogTask::Change(change) => carry_out(change, desk),
        CatalogTask::Validate(inquiry) => process::validate(&complete(&inquiry, desk)?, desk),
        CatalogTask::ProcessHealth(inquiry) => process::health(&complete(&inquiry, desk)?, desk),
        CatalogTask::DefaultProcess(choice) => process::choose_default(&choice, desk),
        CatalogTask::ExportProcess(thing) => process::export(&thing, desk),
        CatalogTask::Health(inquiry) => health(&inquiry, desk),
        CatalogTask::Test { inquiry, has_details } => test(&inquiry, has_details, desk),
        CatalogTask::KeepSecret { fields, secret_type, value } => {
            let value = secret_value::read(secret_type, &value)?;
            let ask =
                ApiCall::new(Method::POST, Collection::Secrets.path()).with_secret(SecretBody::new(&fields, &value));
            ask_and_show(&ask, &views::SECRET, desk)
        }
        CatalogTask::RotateSecret { secret, value } => rotate_secret(&secret, &value, desk),
        CatalogTask::RotateVault => rotate_vault(desk),
    }
}

fn complete(inquiry: &UnresolvedCatalogRequest, desk: &mut Session<'_>) -> Result<ApiCall, Failure> {
    inquiry.ask(|thing| find(thing, desk), Source::read)
}

fn ask_and_show(ask: &ApiCall, sheet: &Sheet, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let thing = desk.ask(ask)?;
    desk.show(&thing, sheet.fields, sheet.wanted)
}

fn sheet_of(shelf: Collection) -> &'static Sheet {
    match shelf {
        Collection::Services => &views::SERVICE,
        Collection::Tools => &views::TOOL,
        Collection::Processes => &views::PROCESS,
        Collection::Secrets => &views::SECRET,
        Collection::ServiceTemplates | Collection::ToolTemplates => &views::TEMPLATE,
        Collection::Endpoints => &views::ENDPOINT,
    }
}

fn show_definition(thing: &NamedEntry, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let path = format!("{}/{}", thing.shelf.path(), find(thing, desk)?);
    let shown = desk.ask(&ApiCall::get(path))?;
    write!(desk.out, "{}", to_yaml(&Definition::of(thing.shelf, &shown))?)?;
    Ok(Exit::Ok)
}

/// What makes a thing, in the order people read it; its id and hash say what it was an edit of.
struct Definition<'a>(Vec<(&'a str, &'a Value)>);

impl<'a> Definition<'a> {
    fn of(shelf: Collection, shown: &'a Value) -> Self {
        let names = ["id", "hash"].iter().chain(shelf.definition());
        Self(names.map(|name| (*name, &shown[*name])).filter(|(_, value)| !value.is_null()).collect())
    }
}

impl Serialize for Definition<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

/// The change is based on what was edited, else on what is there now; one made meanwhile is refused, not overwritten.
fn carry_out(change: Change, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let Change { thing, definition, fields, references } = change;
    let mut wanted = definition.as_ref().map(Source::read).transpose()?.unwrap_or_default();
    let path = format!("{}/{}", thing.shelf.path(), find(&thing, desk)?);
    let current = desk.ask(&ApiCall::get(path.clone()))?;
    refuse_what_a_definition_cannot_say(&wanted, &current)?;
    let based_on = wanted.get("hash").and_then(Value::as_str).or(current["hash"].as_str()).map(str::to_owned);
    if thing.shelf == Collection::Processes {
        resolve_targets(&mut wanted, |target| find(target, desk))?;
    }
    wanted.extend(fields);
    for (name, referred) in &references {
        wanted.insert((*name).to_owned(), find(referred, desk)?.to_string().into());
    }
    let changes = difference(&current, wanted);
    let sheet = sheet_of(thing.shelf);
    if changes.is_empty() {
        desk.show(&current, sheet.fields, sheet.wanted)?;
        desk.remark("Nothing was changed: it is like that already.")?;
        return Ok(Exit::Ok);
    }
    let ask = ApiCall::new(Method::PUT, path).with_body(changes.into()).based_on(based_on);
    ask_and_show(&ask, sheet, desk)
}

/// A definition of something else was given by mistake; sharing is a decision of its own.
fn refuse_what_a_definition_cannot_say(wanted: &Map<String, Value>, current: &Value) -> Result<(), Failure> {
    let differs = |name: &str| wanted.get(name).is_some_and(|value| *value != current[name]);
    if differs("id") {
        let error = anyhow!("the definition is that of {}, not of {}", text(&wanted["id"]), text(&current["id"]));
        return Err(Failure::usage(error, "give the file of the thing that is to change, or leave out its id"));
    }
    if differs("shared") {
        let error = anyhow!("a definition does not say whether something is shared");
        return Err(Failure::usage(error, "use share or unshare for that"));
    }
    Ok(())
}

fn health(inquiry: &UnresolvedCatalogRequest, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let ask = complete(inquiry, desk)?;
    let health = desk.ask(&ask)?;
    desk.show(&health, views::HEALTH.fields, views::HEALTH.wanted)?;
    Ok(if health["status"] == "healthy" { Exit::Ok } else { Exit::Problem })
}

fn test(inquiry: &UnresolvedCatalogRequest, has_details: bool, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let ask = complete(inquiry, desk)?;
    let result = operation::carry_out(&ask, "calling", desk)?;
    if has_details || desk.form == OutputFormat::Json {
        return desk.show(&result, views::CALL.fields, views::CALL.wanted);
    }
    let output = match &result["output"] {
        Value::String(words) => words.clone(),
        other => format!("{other:#}"),
    };
    writeln!(desk.out, "{}", printable(&output))?;
    if let (OutputFormat::People(_), Some(latency)) = (desk.form, result["latencyMs"].as_f64()) {
        eprintln!("It took {latency:.0} ms.");
    }
    Ok(Exit::Ok)
}

/// Which parts a value has depends on the type the secret was made with.
fn rotate_secret(secret: &NamedEntry, source: &ValueSource, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let path = format!("{}/{}", secret.shelf.path(), find(secret, desk)?);
    let current = desk.ask(&ApiCall::get(path.clone()))?;
    let word = text(&current["type"]);
    let secret_type = SecretType::named(&word).ok_or_else(|| {
        let error = anyhow!("this version does not know secrets of type {}", printable(&word));
        Failure::new(Exit::Failed, error, "install the version the server has")
    })?;
    let value = secret_value::read(secret_type, source)?;
    let ask = ApiCall::new(Method::PUT, path).with_secret(SecretBody::new(&Map::new(), &value));
    ask_and_show(&ask.based_on(current["hash"].as_str().map(str::to_owned)), &views::SECRET, desk)
}

/// A rotation that was interrupted, or that somebody else asked for, is followed to its end.
fn rotate_vault(desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let vault = desk.ask(&ApiCall::get("/vault"))?;
    let running = &vault["rotation"];
    let result = match running["status"].as_str() {
        Some("queued" | "processing") => {
            desk.remark("A rotation has not ended yet; this is its result, and no second one is begun.")?;
            operation::follow(&text(&running["operationId"]), "rotating", desk)?
        }
        _ => match operation::carry_out(&ApiCall::post("/vault/rotations", json!({})), "rotating", desk) {
            // Another one began since we looked.
            Err(refused) if refused.exit == Exit::Conflict => follow_last_rotation(desk, refused)?,
            rotated => rotated?,
        },
    };
    desk.show(&result, views::ROTATION.fields, views::ROTATION.wanted)?;
    desk.remark("Every secret is kept under the current master key. Keep a copy of the key file elsewhere.")?;
    Ok(Exit::Ok)
}

fn follow_last_rotation(desk: &mut Session<'_>, refused: Failure) -> Result<Value, Failure> {
    let vault = desk.ask(&ApiCall::get("/vault"))?;
    match vault["rotation"]["operationId"].as_str() {
        Some(running) => operation::follow(running, "rotating", desk),
        None => Err(refused),
    }
}

#[cfg(test)]
mod tests;
