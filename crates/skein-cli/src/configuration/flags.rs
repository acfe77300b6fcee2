//! The flags of the settings, made from the table.

use std::ffi::OsString;

use clap::builder::{OsStringValueParser, PossibleValuesParser, StringValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

use crate::configuration::SettingsLayer;
use crate::settings::{Display, Kind, Name, SETTINGS, Setting, SettingSource, UsedBy, Value};

/// Settings that every command takes.
pub(crate) type EveryCommand = Flags<false>;
/// Settings that only `serve` takes.
pub(crate) type Serving = Flags<true>;

/// What was typed of one group of settings.
pub(crate) struct Flags<const SERVING: bool>(pub(crate) SettingsLayer);

impl<const SERVING: bool> Flags<SERVING> {
    fn group() -> impl Iterator<Item = &'static Setting> {
        let may_be_typed = SETTINGS.iter().filter(|setting| setting.given_in == SettingSource::Anywhere);
        may_be_typed.filter(|setting| (setting.used_by == UsedBy::Serve) == SERVING)
    }
}

impl<const SERVING: bool> Args for Flags<SERVING> {
    fn augment_args(command: Command) -> Command {
        command.args(Self::group().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const SERVING: bool> FromArgMatches for Flags<SERVING> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self(Self::group().filter_map(|setting| typed(setting, matches)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn argument(setting: &'static Setting) -> Arg {
    let default = setting.default.map(|default| format!(" [default: {default}]")).unwrap_or_default();
    let help = format!("{}{default} [env: {}]", setting.what, setting.variable);
    let parser: ValueParser = match setting.kind {
        Kind::Path => OsStringValueParser::new().into(),
        Kind::Text | Kind::List => StringValueParser::new().into(),
        Kind::OneOf(choices) => PossibleValuesParser::new(choices).into(),
    };
    let is_global = setting.used_by == UsedBy::EveryCommand;
    let action = if setting.kind == Kind::List { ArgAction::Append } else { ArgAction::Set };
    let argument = Arg::new(setting.key).long(setting.flag).value_name(setting.placeholder).help(help);
    let argument = argument.value_parser(parser).action(action).global(is_global);
    // A secret on the command line is seen by everybody on the machine; the flag is there for tests and trials.
    let argument = argument.hide(setting.display == Display::Secret && setting.name != Name::Key);
    // `-h` shows what most people change, `--help` everything.
    let is_rare = ["s3.", "vault.", "network.", "log"].iter().any(|start| setting.key.starts_with(start));
    if is_global { argument.help_heading("Settings").hide_short_help(is_rare) } else { argument }
}

fn typed(setting: &'static Setting, matches: &ArgMatches) -> Option<(Name, Value)> {
    let value = match setting.kind {
        Kind::Path => Value::Path(matches.get_one::<OsString>(setting.key)?.into()),
        Kind::Text | Kind::OneOf(_) => Value::Text(matches.get_one::<String>(setting.key)?.clone()),
        Kind::List => {
            let given = matches.get_many::<String>(setting.key)?;
            let parts = given.flat_map(|text| text.split(',')).map(str::trim).filter(|part| !part.is_empty());
            Value::List(parts.map(str::to_owned).collect())
        }
    };
    Some((setting.name, value))
}
