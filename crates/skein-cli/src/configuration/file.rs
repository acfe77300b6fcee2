//! `skein.toml`: found, read, and refused by line when it says something that cannot be meant.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Error, anyhow};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::configuration::{CONFIG_VARIABLE, Environment, ResolvedValue, ValueOrigin};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::{Kind, Name, SETTINGS, Setting, SettingSource, Value};

const HINT: &str = "correct the file; skein config sample prints every setting";
/// As many wrong letters as still look like a typing error.
const TYPING_ERRORS_MAX: usize = 3;

/// The file that was named, or the usual one if it is there.
pub(super) fn path(named: Option<PathBuf>, environment: &Environment) -> Option<PathBuf> {
    let named = named.or_else(|| environment.variable(CONFIG_VARIABLE).map(PathBuf::from));
    let usual = || Some(environment.directory("XDG_CONFIG_HOME", ".config")?.join("skein.toml"));
    // A home that may not be looked into, as that of a service, holds no file of ours.
    named.or_else(|| usual().filter(|path| path.exists()))
}

/// What the file says.
pub(super) fn read(path: &Path) -> Result<BTreeMap<Name, ResolvedValue>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let error = Error::new(error).context(format!("cannot read the configuration {}", path.display()));
        Failure::new(Exit::Usage, error, "name a file that can be read with --config or SKEIN_CONFIG")
    })?;
    parse(path, &text).map_err(|error| Failure::usage(error, HINT))
}

fn parse(path: &Path, text: &str) -> Result<BTreeMap<Name, ResolvedValue>, Error> {
    let source = Source { path, text };
    let table = DeTable::parse(text).map_err(|bad| {
        let at = bad.span().map_or(0, |span| span.start);
        anyhow!("{}: {}", source.place(at), bad.message())
    })?;
    let mut found = BTreeMap::new();
    for (key, value) in table.get_ref() {
        let name = key.get_ref().as_ref();
        match value.get_ref() {
            DeValue::Table(inner) if is_table(name) => {
                for (key, value) in inner {
                    source.take(&format!("{name}.{}", key.get_ref()), key.span().start, value, &mut found)?;
                }
            }
            _ => source.take(name, key.span().start, value, &mut found)?,
        }
    }
    Ok(found)
}

fn is_table(name: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.key.split_once('.').is_some_and(|(table, _)| table == name))
}

struct Source<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    fn line(&self, at: usize) -> usize {
        self.text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
    }

    fn place(&self, at: usize) -> String {
        format!("{}:{}", self.path.display(), self.line(at))
    }

    fn take(
        &self,
        key: &str,
        at: usize,
        value: &Spanned<DeValue<'_>>,
        found: &mut BTreeMap<Name, ResolvedValue>,
    ) -> Result<(), Error> {
        let setting = SETTINGS.iter().find(|setting| setting.key == key);
        let setting = setting.ok_or_else(|| unknown(key)).with_context(|| self.place(at))?;
        let value = read_value(setting, value.get_ref()).with_context(|| self.place(at))?;
        if !value.is_empty() {
            let origin = ValueOrigin::File { path: self.path.to_owned(), line: self.line(at) };
            found.insert(setting.name, ResolvedValue { value, origin });
        }
        Ok(())
    }
}

fn unknown(key: &str) -> Error {
    let distance = |setting: &&Setting| strsim::osa_distance(setting.key, key);
    let nearest = SETTINGS.iter().min_by_key(distance).filter(|setting| distance(setting) <= TYPING_ERRORS_MAX);
    match nearest {
        Some(setting) => anyhow!("there is no setting {key:?}; did you mean {}?", setting.key),
        None => anyhow!("there is no setting {key:?}"),
    }
}

fn read_value(setting: &Setting, value: &DeValue<'_>) -> Result<Value, Error> {
    if setting.given_in == SettingSource::Environment {
        return Err(anyhow!("{} is not kept in a file; set {}", setting.key, setting.variable));
    }
    let wrong = |expected: &str| anyhow!("{} takes {expected}, not {}", setting.key, kind_of(value));
    match (setting.kind, value) {
        (Kind::List, DeValue::Array(list)) => {
            let texts = list.iter().map(|entry| entry.get_ref().as_str().map(str::to_owned));
            texts.collect::<Option<_>>().map(Value::List).ok_or_else(|| anyhow!("{} takes texts", setting.key))
        }
        (Kind::List, _) => Err(wrong("a list of texts")),
        (kind, DeValue::String(text)) => {
            kind.read(text.as_ref().into()).map_err(|problem| anyhow!("{}: {problem}", setting.key))
        }
        (_, _) => Err(wrong("a text in quotes")),
    }
}

fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
