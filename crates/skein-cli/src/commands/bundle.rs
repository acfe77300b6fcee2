//! `skein export` and `skein import`: everything in one file, out and in.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Error, anyhow};
use axum::http::Method;
use serde_json::{Value, json};
use skein_core::{OperationId, RecordId};

use crate::api_client::{ApiCall, Upload};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::passphrase::{Passphrase, PassphraseSource};
use crate::progress::ByteBar;
use crate::session::Session;
use crate::views;

const OWNER_ONLY: u32 = 0o600;
/// How every ZIP file begins; one without entries begins with its end.
const ZIP_STARTS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// What is exported.
pub(crate) enum ExportExtent {
    /// Everything; with the values of secrets where there is a passphrase for them.
    Everything(Option<PassphraseSource>),
    /// One conversation, with those it was forked from.
    Conversation(RecordId),
}

/// Into a file that is not there yet, or with `-` to standard output and nothing else.
pub(crate) fn export(file: &Path, wanted: &ExportExtent, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let is_output = file == Path::new("-");
    if is_output {
        refuse_terminal(io::stdout().is_terminal())?;
    }
    let mut part = if is_output { None } else { Some(PartialFile::create(file)?) };
    let (body, passphrase) = match wanted {
        ExportExtent::Everything(None) => (json!({}), None),
        ExportExtent::Everything(Some(source)) => (json!({ "withSecrets": true }), Some(Passphrase::read(source)?)),
        ExportExtent::Conversation(id) => (json!({ "conversationId": id }), None),
    };
    let Some(part) = &mut part else {
        receive(&mut io::stdout(), body, passphrase, desk)?;
        return Ok(Exit::Ok);
    };
    let (made, bytes) = receive(&mut part.opened, body, passphrase, desk)?;
    part.keep()?;
    let cursor = &made["cursor"];
    let shown = json!({ "file": file.display().to_string(), "bytes": bytes, "cursor": cursor });
    desk.show(&shown, &["file", "bytes", "cursor"], "file")
}

/// A bundle is for programs.
fn refuse_terminal(is_terminal: bool) -> Result<(), Failure> {
    if !is_terminal {
        return Ok(());
    }
    let hint = "name a file, or pass it on: skein export - | …";
    Err(Failure::usage(anyhow!("a bundle is not text, and standard output is a terminal"), hint))
}

/// Writes a new export; says what it is and how long.
fn receive(
    to: &mut dyn io::Write,
    body: Value,
    passphrase: Option<Passphrase>,
    desk: &mut Session<'_>,
) -> Result<(Value, u64), Failure> {
    let made = desk.ask(&ApiCall::post("/exports", body))?;
    let id = made["id"].as_str().and_then(|id| id.parse::<OperationId>().ok()).ok_or_else(|| {
        Failure::new(Exit::Failed, anyhow!("the server did not name the export"), "the server's log says more")
    })?;
    let bar = ByteBar::new("receiving");
    let mut writer = BufWriter::new(to);
    let asked = ApiCall::get(format!("/exports/{id}")).with_passphrase(passphrase);
    let bytes = desk.door()?.download(&asked, &mut writer, &bar);
    drop(writer);
    bar.end();
    Ok((made, bytes?))
}

pub(crate) fn import(
    file: PathBuf,
    passphrase: Option<&PassphraseSource>,
    desk: &mut Session<'_>,
) -> Result<Exit, Failure> {
    require_bundle(&file)?;
    let passphrase = passphrase.map(Passphrase::read).transpose()?;
    let upload = Upload { file, media_type: "application/zip", bar: ByteBar::new("sending") };
    let asked = ApiCall::new(Method::POST, "/imports").with_passphrase(passphrase);
    let imported = desk.door()?.upload(&asked, &upload);
    upload.bar.end();
    let imported = imported?;
    desk.show(&imported, views::IMPORTED.fields, views::IMPORTED.wanted)?;
    if imported["secretsWithoutValue"].as_u64().is_some_and(|waiting| waiting > 0) {
        desk.remark("Secrets without a value wait for one: skein secret rotate SECRET")?;
    }
    Ok(Exit::Ok)
}

/// Refuses what is certainly no bundle before a server has to.
fn require_bundle(file: &Path) -> Result<(), Failure> {
    let mut start = [0; 4];
    let read = File::open(file).and_then(|mut opened| io::Read::read_exact(&mut opened, &mut start));
    match read {
        Ok(()) if ZIP_STARTS.contains(&&start[..]) => Ok(()),
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
            let error = Error::new(error).context(format!("cannot read {}", file.display()));
            Err(Failure::new(Exit::Failed, error, "name a file that skein export wrote"))
        }
        Ok(()) | Err(_) => {
            let error = anyhow!("{} is not a bundle", file.display());
            Err(Failure::new(Exit::Failed, error, "name a file that skein export wrote"))
        }
    }
}

/// A file that has its name only once it is complete.
pub(super) struct PartialFile {
    pub(super) opened: File,
    path: PathBuf,
    name: PathBuf,
    is_kept: bool,
}

impl PartialFile {
    pub(super) fn create(name: &Path) -> Result<Self, Failure> {
        if name.exists() {
            let error = anyhow!("{} exists already", name.display());
            return Err(Failure::new(Exit::Failed, error, "name a file that does not exist; nothing was overwritten"));
        }
        let path = PathBuf::from(format!("{}.part", name.display()));
        let opened = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(&path);
        let opened = opened.map_err(|error| cannot_write(&path, error))?;
        Ok(Self { opened, path, name: name.to_owned(), is_kept: false })
    }

    /// Durable under its name; a file that took the name meanwhile stays.
    pub(super) fn keep(&mut self) -> Result<(), Failure> {
        let kept = self.opened.sync_all().and_then(|()| fs::hard_link(&self.path, &self.name));
        self.is_kept = kept.is_ok();
        kept.map_err(|error| cannot_write(&self.name, error))?;
        // The link that is left over is the one nobody wants.
        let _ = fs::remove_file(&self.path);
        Ok(())
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn cannot_write(path: &Path, error: io::Error) -> Failure {
    let error = Error::new(error).context(format!("cannot write {}", path.display()));
    Failure::new(Exit::Failed, error, "check the directory, and remove what an earlier export left there")
}
