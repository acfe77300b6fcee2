//! A conversation written down to read, into a file or to standard output.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use serde_json::json;

use super::complete;
use crate::commands::bundle::PartialFile;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::printable;
use crate::plan::UnresolvedTreeRequest;
use crate::progress::ByteBar;
use crate::session::Session;

/// Into a file that is not there yet, or with `-` to standard output and nothing else.
pub(super) fn export(wish: &UnresolvedTreeRequest, file: &Path, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let ask = complete(wish, desk)?;
    if file == Path::new("-") {
        let mut written = Vec::new();
        desk.door()?.download(&ask, &mut written, &ByteBar::new("receiving"))?;
        if io::stdout().is_terminal() {
            write!(desk.out, "{}", printable(&String::from_utf8_lossy(&written)))?;
        } else {
            desk.out.write_all(&written)?;
        }
        return Ok(Exit::Ok);
    }
    let mut part = PartialFile::create(file)?;
    let bar = ByteBar::new("receiving");
    let bytes = desk.door()?.download(&ask, &mut part.opened, &bar);
    bar.end();
    let bytes = bytes?;
    part.keep()?;
    desk.show(&json!({ "file": file.display().to_string(), "bytes": bytes }), &["file", "bytes"], "file")
}
