//! Starts the log on standard error; standard output belongs to what was asked for.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use crate::arguments::{Arguments, Command, LogFormat};
use crate::failure::Failure;

pub(crate) fn start(arguments: &Arguments) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(filter(arguments))
        .map_err(|bad| Failure::usage(bad, "give --log a level, or target=level pairs with commas"))?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    match arguments.logging.log_format {
        LogFormat::Text => log.with_target(false).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
    Ok(())
}

/// A server is watched by its log; other commands say what they found on standard output.
fn filter(arguments: &Arguments) -> &str {
    let asked = arguments.logging.log.as_deref().filter(|filter| !filter.is_empty());
    let otherwise = if matches!(arguments.command, Command::Serve(_)) { "info" } else { "warn" };
    asked.unwrap_or(otherwise)
}
