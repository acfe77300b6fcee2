//! Starts the log on standard error; standard output belongs to what was asked for.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use crate::configuration::Configuration;
use crate::failure::Failure;
use crate::settings::Name;

/// A server is watched by its log; other commands say what they found on standard output.
pub(crate) fn start(configuration: &Configuration, is_server: bool) -> Result<(), Failure> {
    let otherwise = if is_server { "info" } else { "warn" };
    let filter = EnvFilter::try_new(configuration.text(Name::Log).unwrap_or(otherwise))
        .map_err(|bad| Failure::usage(bad, "give --log a level, or target=level pairs with commas"))?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    match configuration.text(Name::LogFormat) {
        Some("json") => log.json().flatten_event(true).init(),
        _ => log.with_target(false).init(),
    }
    Ok(())
}
