//! Each command becomes exactly the request the API takes, once names and files were looked at.

use clap::Parser as _;
use serde_json::json;

use super::*;
use crate::arguments::{Arguments, Command};
use crate::exit::Exit;
use crate::plan::ApiRequest;

const ONE: &str = "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
const OTHER: &str = "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2B";

fn with_ids(text: &str) -> String {
    text.replace("ONE", ONE).replace("OTHER", OTHER)
}

fn task(line: &str) -> Result<CatalogTask, Failure> {
    let line = with_ids(line);
    let words = std::iter::once("skein").chain(line.split(' '));
    match Arguments::try_parse_from(words).unwrap_or_else(|error| panic!("{error}")).command {
        Command::Service(service) => CatalogTask::of_service(service.command),
        Command::Tool(tool) => CatalogTask::of_tool(tool.command),
        Command::Process(process) => CatalogTask::of_process(process.command),
        Command::Template(template) => CatalogTask::of_template(template.command),
        Command::Secret(secret) => CatalogTask::of_secret(secret.command),
        Command::Endpoint(endpoint) => CatalogTask::of_endpoint(endpoint.command),
        Command::Vault(vault) => match ApiRequest::of_vault(&vault.command) {
            Ok(ApiRequest::Catalog(task)) => Ok(task),
            _ => panic!("{line} is not about the catalogue"),
        },
        _ => panic!("{line} is not about the catalogue"),
    }
}

fn inquiry(line: &str) -> UnresolvedCatalogRequest {
    match task(line).unwrap_or_else(|failure| panic!("{line}: {failure}")) {
        CatalogTask::Show { inquiry, .. }
        | CatalogTask::List { inquiry, .. }
        | CatalogTask::Rows { inquiry, .. }
        | CatalogTask::Health(inquiry)
        | CatalogTask::Validate(inquiry)
        | CatalogTask::ProcessHealth(inquiry)
        | CatalogTask::Test { inquiry, .. } => inquiry,
        other => panic!("{line} became {other:?}"),
    }
}

/// `expected` is the request as `METHOD path query body`; a name is found as OTHER, and every file holds a definition.
fn check(line: &str, expected: &str) {
    let find = |thing: &NamedEntry| match &thing.named {
        EntryName::Id(id) => Ok(*id),
        EntryName::Name(_) => Ok(OTHER.parse().unwrap()),
    };
    let definition = json!({ "name": "filed", "type": "rest_api", "id": "x", "hash": "y", "status": "down" });
    let read = |_: &Source| Ok(definition.as_object().unwrap().clone());
    let ask = inquiry(line).ask(find, read).unwrap();
    let query: Vec<String> = ask.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let body = ask.body.map(|body| body.to_string()).unwrap_or_default();
    let made = format!("{} {} {} {body}", ask.method, ask.path, query.join("&"));
    assert_eq!(made.trim_end(), with_ids(expected), "{line}");
}

#[test]
fn services_become_requests() {
    check("service list", "GET /services");
    check(
        "service list --type rest_api --enabled true --status down --owned",
        "GET /services type=rest_api&enabled=true&status=down&owned=true",
    );
    check("service show ONE", "GET /services/ONE");
    check("service show Weather", "GET /services/OTHER");
    check("service delete ONE", "DELETE /services/ONE");
    check("service share ONE", r#"PUT /services/ONE/share  {"shared":true}"#);
    check("service unshare Weather", r#"PUT /services/OTHER/share  {"shared":false}"#);
    check("service health ONE", "POST /services/ONE/health  {}");
}

#[test]
fn services_are_created_from_flags_files_and_templates() {
    check(
        r#"service create Weather --type rest_api --protocol bolt+s --connection-schema {"a":1} --requires-secret --disabled"#,
        r#"POST /services  {"connectionSchema":{"a":1},"enabled":false,"name":"Weather","protocol":"bolt+s","requiresSecret":true,"type":"rest_api"}"#,
    );
    check("service create --file f", r#"POST /services  {"name":"filed","type":"rest_api"}"#);
    check("service create Other --file -", r#"POST /services  {"name":"Other","type":"rest_api"}"#);
    check("service create --template ONE", r#"POST /services  {"serviceTemplateId":"ONE"}"#);
    check("service create Mine --template Ollama", r#"POST /services  {"name":"Mine","serviceTemplateId":"OTHER"}"#);
}

#[test]
fn tools_are_discovered_from_a_document_or_an_address() {
    check(
        r#"service discover ONE --url https://a/openapi.json --params {"endpoint":"https://a"} --secret Key"#,
        r#"POST /services/ONE/discover  {"connectionParams":{"endpoint":"https://a"},"secretId":"OTHER","url":"https://a/openapi.json"}"#,
    );
    let document = r#"{"hash":"y","id":"x","name":"filed","status":"down","type":"rest_api"}"#;
    check("service discover ONE --document f", &format!(r#"POST /services/ONE/discover  {{"document":{document}}}"#));
}

#[test]
fn tools_become_requests() {
    check("tool list --service Weather", "GET /tools serviceId=OTHER");
    check("tool list --type llm_provider --shared", "GET /tools type=llm_provider&shared=true");
    check("tool show ONE", "GET /tools/ONE");
    check("tool metrics Rain", "GET /tools/metrics toolIds=OTHER");
    check("tool delete ONE", "DELETE /tools/ONE");
    check("tool share ONE", r#"PUT /tools/ONE/share  {"shared":true}"#);
    check("tool bind ONE Key", r#"PUT /tools/ONE/secret  {"secretId":"OTHER"}"#);
    check("tool unbind ONE", "DELETE /tools/ONE/secret");
    check(
        r#"tool create Rain --service ONE --secret Key --params {"a":1} --operation {"type":"rest_call"} --input-schema {} --output-schema {} --secret-use {"in":"query"}"#,
        r#"POST /tools  {"connectionParams":{"a":1},"inputSchema":{},"name":"Rain","operation":{"type":"rest_call"},"outputSchema":{},"secretId":"OTHER","secretUse":{"in":"query"},"serviceId":"ONE"}"#,
    );
    check("tool create --template T --service ONE", r#"POST /tools  {"serviceId":"ONE","toolTemplateId":"OTHER"}"#);
}

#[test]
fn processes_become_requests() {
    check("process list", "GET /processes");
    check("process list --enabled false --archived", "GET /processes enabled=false&includeArchived=true");
    check("process show Forecast", "GET /processes/OTHER");
    check("process show ONE --version 2", "GET /processes/ONE version=2");
    check("process new Mine --file f", r#"POST /processes  {"name":"Mine","type":"rest_api"}"#);
    check(
        "process create --file f --description d",
        r#"POST /processes  {"description":"d","name":"filed","type":"rest_api"}"#,
    );
    check("process import f", r#"POST /processes  {"name":"filed","type":"rest_api"}"#);
    check("process validate --file f", r#"POST /processes/validate  {"name":"filed","type":"rest_api"}"#);
    check("process delete ONE", "DELETE /processes/ONE");
    check("process health Forecast", "GET /processes/OTHER/health");
    let thing = NamedEntry { shelf: Collection::Processes, named: EntryName::Name("Forecast".to_owned()) };
    assert_eq!(task("process export Forecast").unwrap(), CatalogTask::ExportProcess(thing.clone()));
    assert_eq!(task("process show Forecast --yaml").unwrap(), CatalogTask::ShowDefinition(thing));
    let CatalogTask::Change(made) = task("process edit ONE --file f --disable --name New").unwrap() else {
        panic!("no change")
    };
    assert_eq!(Value::from(made.fields), json!({ "name": "New", "enabled": false }));
}

#[test]
fn names_inside_steps_stand_for_ids() {
    let inner = json!({ "toolId": "Rain", "processId": 7 });
    let step =
        json!({ "toolId": "Weather", "tools": [{ "toolId": "Search" }, { "toolId": ONE }], "fallback": [inner] });
    let steps = json!([step, { "processId": "Forecast" }, { "ask": { "prompt": "toolId" } }]);
    let mut definition = Map::from_iter([("name".to_owned(), json!("Weather")), ("steps".to_owned(), steps)]);
    let mut asked = Vec::new();
    let find = |thing: &NamedEntry| {
        asked.push(format!("{} {:?}", thing.shelf.noun(), thing.named));
        Ok(OTHER.parse().unwrap())
    };
    resolve_targets(&mut definition, find).unwrap();
    let expected =
        [r#"tool Name("Weather")"#, r#"tool Name("Search")"#, r#"tool Name("Rain")"#, r#"process Name("Forecast")"#];
    assert_eq!(asked, expected);
    let steps = &definition["steps"];
    assert_eq!((&steps[0]["toolId"], &steps[0]["tools"][1]["toolId"]), (&json!(OTHER), &json!(ONE)));
    assert_eq!((&steps[1]["processId"], &definition["name"]), (&json!(OTHER), &json!("Weather")));
    let mut broken = Map::from_iter([("steps".to_owned(), json!([{ "toolId": "entity_x" }]))]);
    assert_eq!(resolve_targets(&mut broken, |_| panic!("not asked")).unwrap_err().exit, Exit::Usage);
}

#[test]
fn inputs_of_a_test_are_texts_or_json() {
    check(
        "tool test ONE --input city=Berlin --input days:=3 --input a=b=c --input code=007",
        r#"POST /tools/ONE/test  {"inputs":{"a":"b=c","city":"Berlin","code":"007","days":3}}"#,
    );
    check(r#"tool test ONE --inputs {"n":1}"#, r#"POST /tools/ONE/test  {"inputs":{"n":1}}"#);
    check("tool test ONE", r#"POST /tools/ONE/test  {"inputs":{}}"#);
    let document = r#"{"hash":"y","id":"x","name":"filed","status":"down","type":"rest_api"}"#;
    check("tool test ONE --file f", &format!(r#"POST /tools/ONE/test  {{"inputs":{document}}}"#));
}

#[test]
fn templates_and_endpoints_become_requests() {
    check("template list --kind service", "GET /service-templates");
    check("template list --kind tool --archived", "GET /tool-templates includeArchived=true");
    check("template show --kind tool ONE", "GET /tool-templates/ONE");
    check(
        "template create --kind service Mine --file f",
        r#"POST /service-templates  {"name":"Mine","type":"rest_api"}"#,
    );
    check("template archive --kind tool ONE", "DELETE /tool-templates/ONE");
    check("template restore --kind tool ONE", r#"PUT /tool-templates/ONE  {"archived":false}"#);
    check("template share --kind service ONE", r#"PUT /service-templates/ONE  {"shared":true}"#);
    check("template instances --kind service ONE", "GET /service-templates/ONE/instances");
    check("endpoint list", "GET /allowed-endpoints");
    check("endpoint allow localhost:11434", r#"POST /allowed-endpoints  {"host":"localhost","port":11434}"#);
    check("endpoint allow [::1]:80", r#"POST /allowed-endpoints  {"host":"::1","port":80}"#);
    check("endpoint forbid localhost:11434", "DELETE /allowed-endpoints/OTHER");
}

#[test]
fn secrets_become_requests_without_their_values() {
    check("secret list", "GET /secrets");
    check("secret show ONE", "GET /secrets/ONE");
    check("secret delete Key", "DELETE /secrets/OTHER");
    let CatalogTask::KeepSecret { fields, secret_type, value } =
        task("secret create Key --type password --username anna --description d --from-file -").unwrap()
    else {
        panic!("not kept")
    };
    assert_eq!(Value::from(fields), json!({ "name": "Key", "type": "password", "description": "d" }));
    assert_eq!(secret_type, SecretType::Password);
    assert_eq!(value, ValueSource::Named { from: Source::Input, username: Some("anna".to_owned()) });
    let rotated = task("secret rotate Key --certificate c --private-key k").unwrap();
    let (certificate, private_key) = ("c".into(), "k".into());
    let value = ValueSource::Pem { certificate, private_key, ca: None };
    let secret = NamedEntry { shelf: Collection::Secrets, named: EntryName::Name("Key".to_owned()) };
    assert_eq!(rotated, CatalogTask::RotateSecret { secret, value });
    assert_eq!(task("vault rotate").unwrap(), CatalogTask::RotateVault);
}

#[test]
fn changes_say_what_was_named() {
    let change = |line: &str| match task(line).unwrap() {
        CatalogTask::Change(change) => change,
        other => panic!("{line} became {other:?}"),
    };
    let made = change("service change ONE --name New --disable");
    assert_eq!(Value::from(made.fields), json!({ "name": "New", "enabled": false }));
    let made = change("tool change ONE --file f --no-secret --enable");
    assert_eq!(made.definition, Some(Source::File("f".into())));
    assert_eq!(Value::from(made.fields), json!({ "secretId": null, "enabled": true }));
    let made = change("tool change ONE --secret Key");
    assert_eq!(made.references.len(), 1);
    let made = change("secret rename Key Other");
    assert_eq!(Value::from(made.fields), json!({ "name": "Other" }));
    assert!(matches!(task("tool show ONE --yaml"), Ok(CatalogTask::ShowDefinition(_))));
}

#[test]
fn what_cannot_be_meant_is_refused_with_what_to_do() {
    for line in [
        "service show entity_../../x",
        "service create W --type rest_api --connection-schema [1]",
        "service discover ONE --url u --params x",
        "tool test ONE --input city",
        "tool test ONE --input =x",
        "tool test ONE --input n:=x",
        r#"tool test ONE --inputs {"a":1,"a":2}"#,
        "tool change ONE --operation x",
        "endpoint allow localhost",
        "endpoint allow localhost:0",
        "endpoint allow ::1:80",
        "endpoint allow http://localhost:80",
        "endpoint allow :80",
    ] {
        let failure = task(line).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage, "{line}");
        assert!(!failure.hint().is_empty());
    }
}

#[test]
fn the_parser_refuses_what_contradicts_itself() {
    for line in [
        "service create",
        "service list --owned --shared",
        "service change ONE",
        "service change ONE --enable --disable",
        "service discover ONE",
        "service discover ONE --url u --document d",
        "service show ONE --yaml --json",
        "tool create --template T --operation {}",
        "process new",
        "process edit ONE",
        "process validate",
        "process show ONE --version 1 --yaml",
        "tool change ONE --secret s --no-secret",
        "tool test ONE --inputs {} --input a=b",
        "template list",
        "secret create",
        "secret create K value",
        "secret create K --type pin",
        "secret create K --certificate c",
        "secret create K --from-file f --certificate c --private-key k",
        "secret rename K",
    ] {
        let words = std::iter::once("skein").chain(line.split(' '));
        assert!(Arguments::try_parse_from(words).is_err(), "{line}");
    }
}
