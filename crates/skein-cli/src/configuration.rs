//! Configuration: compiled-in defaults, then `skein.toml`, then `SKEIN_…` variables, then flags.
//!
//! It is put together once, before anything happens, and remembers where each value came from. An empty value counts
//! as not given. What can be set is in [`crate::settings`].

mod file;
mod flags;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::anyhow;

pub(crate) use self::flags::{EveryCommand, Serving};
use crate::failure::Failure;
use crate::privacy::ConfigurationFile;
use crate::settings::{Display, Kind, Name, SETTINGS, Setting, SettingSource, Value};

const CONFIG_VARIABLE: &str = "SKEIN_CONFIG";
/// For those who work on Skein.
const TEST_VARIABLES: &str = "SKEIN_TEST_";
/// What Kubernetes tells every container of a service called `skein`, or beginning with it.
const SERVICE_VARIABLES: [&str; 3] = ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT_"];
const SERVICE_ADDRESS: &str = "_PORT";

/// What one source says about some settings.
pub(crate) type SettingsLayer = BTreeMap<Name, Value>;

/// The environment, read once.
#[derive(Debug, Default)]
pub(crate) struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    pub(crate) fn read() -> Self {
        std::env::vars_os().collect()
    }

    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        self.0.get(&OsString::from(name)).filter(|value| !value.is_empty()).cloned()
    }

    /// Variables that look like settings and are none.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = String> {
        let names = self.0.keys().filter_map(|name| name.to_str()).filter(|name| name.starts_with("SKEIN_"));
        let is_known = |name: &str| {
            name == CONFIG_VARIABLE
                || name.starts_with(TEST_VARIABLES)
                || name.ends_with(SERVICE_ADDRESS)
                || SERVICE_VARIABLES.iter().any(|part| name.contains(part))
                || SETTINGS.iter().any(|setting| setting.variable == name)
        };
        names.filter(move |name| !is_known(name)).map(str::to_owned)
    }

    /// `skein` in the folder that `variable` names, or in `folder` of the home directory.
    fn directory(&self, variable: &str, folder: &str) -> Option<PathBuf> {
        let named = self.variable(variable).map(PathBuf::from);
        let base = named.or_else(|| Some(PathBuf::from(self.variable("HOME")?).join(folder)));
        base.map(|base| base.join("skein"))
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ValueOrigin {
    Default,
    File { path: PathBuf, line: usize },
    Variable(&'static str),
    Flag(&'static str),
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(name) => write!(f, "--{name}"),
        }
    }
}

impl ValueOrigin {
    /// How near to the command; the nearer overrides.
    fn nearness(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File { .. } => 1,
            Self::Variable(_) => 2,
            Self::Flag(_) => 3,
        }
    }
}

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResolvedValue {
    pub(crate) value: Value,
    pub(crate) origin: ValueOrigin,
}

/// Every setting that has a value.
#[derive(Debug, Default)]
pub(crate) struct Configuration {
    found: BTreeMap<Name, ResolvedValue>,
    file: Option<PathBuf>,
    /// Why the file could not be read, for whoever goes on without it.
    pub(crate) unread: Option<Failure>,
}

impl Configuration {
    /// `named` is the file given with `--config`.
    pub(crate) fn resolve(
        named: Option<PathBuf>,
        flags: SettingsLayer,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let mut configuration = Self::forgiving(named, flags, environment)?;
        configuration.unread.take().map_or(Ok(configuration), Err)
    }

    /// [`Self::resolve`] for whoever looks for what is wrong: a file that cannot be read is passed over and told.
    pub(crate) fn forgiving(
        named: Option<PathBuf>,
        flags: SettingsLayer,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let mut configuration = Self::defaults(environment);
        configuration.file = file::path(named, environment);
        match configuration.file.as_deref().map(file::read) {
            Some(Ok(found)) => configuration.found.extend(found),
            Some(Err(failure)) => configuration.unread = Some(failure),
            None => {}
        }
        configuration.take_variables(environment)?;
        let flags = flags.into_iter().filter(|(_, value)| !value.is_empty());
        for (name, value) in flags {
            let origin = ValueOrigin::Flag(name.setting().flag);
            configuration.found.insert(name, ResolvedValue { value, origin });
        }
        Ok(configuration)
    }

    fn defaults(environment: &Environment) -> Self {
        let text = |value: &str| Value::Text(value.to_owned());
        let compiled = SETTINGS.iter().filter_map(|setting| Some((setting.name, text(setting.default?))));
        let dir = environment.directory("XDG_DATA_HOME", ".local/share").map(|dir| (Name::Dir, Value::Path(dir)));
        let found =
            compiled.chain(dir).map(|(name, value)| (name, ResolvedValue { value, origin: ValueOrigin::Default }));
        Self { found: found.collect(), file: None, unread: None }
    }

    fn take_variables(&mut self, environment: &Environment) -> Result<(), Failure> {
        for setting in &SETTINGS {
            let Some(text) = environment.variable(setting.variable) else { continue };
            let value = setting.kind.read(text).map_err(|problem| {
                Failure::usage(anyhow!("{}: {problem}", setting.variable), "correct the variable, or unset it")
            })?;
            if !value.is_empty() {
                self.found
                    .insert(setting.name, ResolvedValue { value, origin: ValueOrigin::Variable(setting.variable) });
            }
        }
        Ok(())
    }

    /// The file that was read, and whether a secret or an address with a password came from it.
    pub(crate) fn file(&self) -> Option<ConfigurationFile> {
        let path = self.file.clone()?;
        let is_secret = |setting: &Setting, found: &ResolvedValue| match (&found.origin, setting.display, &found.value)
        {
            (ValueOrigin::File { .. }, Display::Secret, _) => true,
            (ValueOrigin::File { .. }, Display::Address, Value::Text(address)) => {
                without_credentials(address) != *address
            }
            _ => false,
        };
        let has_secret = self.entries().any(|(setting, found)| found.is_some_and(|found| is_secret(setting, found)));
        Some(ConfigurationFile { path, has_secret })
    }

    pub(crate) fn path(&self, name: Name) -> Option<&Path> {
        match &self.found.get(&name)?.value {
            Value::Path(path) => Some(path),
            Value::Text(_) | Value::List(_) => None,
        }
    }

    pub(crate) fn text(&self, name: Name) -> Option<&str> {
        match &self.found.get(&name)?.value {
            Value::Text(text) => Some(text),
            Value::Path(_) | Value::List(_) => None,
        }
    }

    pub(crate) fn list(&self, name: Name) -> &[String] {
        match self.found.get(&name).map(|found| &found.value) {
            Some(Value::List(list)) => list,
            _ => &[],
        }
    }

    /// A text that stands for something; one that does not is refused with where it came from.
    pub(crate) fn parsed<T: FromStr>(&self, name: Name, hint: &'static str) -> Result<Option<T>, Failure> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let bad = || {
            let key = name.setting().key;
            Failure::usage(anyhow!("{key} ({}) cannot be {text:?}", self.origin(name)), hint)
        };
        text.parse().map(Some).map_err(|_| bad())
    }

    fn origin(&self, name: Name) -> &ValueOrigin {
        self.found.get(&name).map_or(&ValueOrigin::Default, |found| &found.origin)
    }

    /// Refuses settings that have no effect where `needed` is not set.
    pub(crate) fn refuse_without(&self, needed: &'static str, idle: &[Name]) -> Result<(), Failure> {
        let Some(name) = idle.iter().find(|name| *self.origin(**name) != ValueOrigin::Default) else { return Ok(()) };
        let (key, origin) = (name.setting().key, self.origin(*name));
        let error = anyhow!("{key} ({origin}) has no effect without {needed}");
        Err(Failure::usage(error, "set both or neither; skein config show lists where values come from"))
    }

    /// Whether one setting was given nearer to the command than another.
    pub(crate) fn is_nearer(&self, name: Name, other: Name) -> bool {
        self.origin(name).nearness() > self.origin(other).nearness()
    }

    /// Every setting in the order of the table, with what was found for it.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'static Setting, Option<&ResolvedValue>)> {
        SETTINGS.iter().map(|setting| (setting, self.found.get(&setting.name)))
    }
}

/// A value as anybody may see it.
pub(crate) fn shown(setting: &Setting, value: &Value) -> String {
    match (setting.display, value) {
        (Display::Secret, _) => "set".to_owned(),
        (Display::Address, Value::Text(address)) => without_credentials(address),
        (_, Value::Path(path)) => path.display().to_string(),
        (_, Value::Text(text)) => text.clone(),
        (_, Value::List(list)) => list.join(", "),
    }
}

/// An address without user, password and parameters.
pub(crate) fn without_credentials(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").map_or(("", address), |(scheme, rest)| (scheme, rest));
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let rest = rest.split('?').next().unwrap_or_default();
    if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
}

/// A file with every setting and its default, all of it commented out.
pub(crate) fn write_sample(out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "# Configuration of Skein. SKEIN_… variables and flags override what is set here.")?;
    let mut last_table = None;
    let of_files = SETTINGS.iter().filter(|setting| setting.given_in == SettingSource::Anywhere);
    let (of_tables, plain): (Vec<&Setting>, Vec<&Setting>) = of_files.partition(|one| one.key.contains('.'));
    // In TOML, whatever follows the head of a table belongs to it.
    for setting in plain.into_iter().chain(of_tables) {
        let split = setting.key.split_once('.');
        let table = split.map(|(table, _)| table);
        if table != last_table {
            last_table = table;
            writeln!(out, "\n# [{}]", table.unwrap_or_default())?;
        }
        let key = split.map_or(setting.key, |(_, key)| key);
        let default = setting.default.unwrap_or_default();
        let value = if setting.kind == Kind::List { "[]".to_owned() } else { format!("{default:?}") };
        writeln!(out, "\n# {}\n# {key} = {value}", setting.what)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
