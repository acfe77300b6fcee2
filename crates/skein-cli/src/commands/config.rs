//! `skein config`: every setting with where its value came from, and a sample of the file.

use std::io::Write;

use serde_json::{Value, json};

use crate::configuration::{Configuration, ResolvedValue, ValueOrigin, shown, write_sample};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plan::ReportForm;
use crate::settings::{Display, Setting};

pub(crate) fn show(configuration: &Configuration, form: ReportForm, out: &mut dyn Write) -> Result<Exit, Failure> {
    match form {
        ReportForm::People => {
            let rows: Vec<[String; 3]> = configuration.entries().map(|(setting, found)| row(setting, found)).collect();
            let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
            let (first, second) = (width(0), width(1));
            for [key, value, origin] in &rows {
                writeln!(out, "{}", format!("{key:first$}  {value:second$}  {origin}").trim_end())?;
            }
        }
        ReportForm::Programs => {
            let settings: Vec<Value> =
                configuration.entries().map(|(setting, found)| as_json(setting, found)).collect();
            writeln!(out, "{:#}", json!({ "settings": settings }))?;
        }
    }
    Ok(Exit::Ok)
}

pub(crate) fn print_sample(out: &mut dyn Write) -> Result<Exit, Failure> {
    write_sample(out)?;
    Ok(Exit::Ok)
}

fn row(setting: &Setting, found: Option<&ResolvedValue>) -> [String; 3] {
    let value = found.map_or_else(|| "not set".to_owned(), |found| shown(setting, &found.value));
    let origin = found.map(|found| found.origin.to_string()).unwrap_or_default();
    [setting.key.to_owned(), value, origin]
}

fn as_json(setting: &Setting, found: Option<&ResolvedValue>) -> Value {
    let value = found.filter(|_| setting.display != Display::Secret).map(|found| shown(setting, &found.value));
    let origin = found.map(|found| match &found.origin {
        ValueOrigin::Default => json!({ "layer": "default" }),
        ValueOrigin::File { path, line } => {
            json!({ "layer": "file", "file": path.display().to_string(), "line": line })
        }
        ValueOrigin::Variable(name) => json!({ "layer": "environment", "variable": name }),
        ValueOrigin::Flag(name) => json!({ "layer": "flag", "flag": format!("--{name}") }),
    });
    json!({
        "name": setting.key, "set": found.is_some(), "secret": setting.display == Display::Secret,
        "value": value, "origin": origin,
    })
}
