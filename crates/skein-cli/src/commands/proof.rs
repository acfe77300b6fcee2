//! `skein proof` and `skein verify --proof`: making a proof, and checking one without any store.

use std::fs::File;
use std::io::{Read as _, Write};
use std::path::Path;

use anyhow::{Context as _, Error, anyhow};
use serde_json::json;
use skein_core::garden::proof::{BadProof, Proof, ProofResult};
use skein_core::{ItemId, Viewer};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::plan::ReportForm;
use crate::storage_location::StorageLocation;

/// Far above any proof; a file beyond it is something else.
const PROOF_BYTES_MAX: u64 = 64 << 20;
const SYSTEM: Viewer = Viewer::System("proving an item");

pub(crate) fn make(place: &StorageLocation, item: ItemId, out: &mut dyn Write) -> Result<Exit, Failure> {
    let store = place.open_read_only()?;
    let proof = store.read_blocking(move |tx| tx.proof(&SYSTEM, item))?;
    let text = serde_json::to_string_pretty(&proof).map_err(std::io::Error::from)?;
    writeln!(out, "{text}")?;
    Ok(Exit::Ok)
}

pub(crate) fn check(file: &Path, form: ReportForm, out: &mut dyn Write) -> Result<Exit, Failure> {
    let hint = "give --proof a file that skein proof wrote";
    let proof = read(file).map_err(|error| Failure::new(Exit::Failed, error, hint))?;
    let outcome = proof.verify();
    match form {
        ReportForm::People => tell(&outcome, out)?,
        ReportForm::Programs => writeln!(out, "{:#}", as_json(&outcome))?,
    }
    Ok(if outcome.is_ok() { Exit::Ok } else { Exit::Problem })
}

fn read(file: &Path) -> Result<Proof, Error> {
    let named = || file.display().to_string();
    let mut text = Vec::new();
    let opened = File::open(file).with_context(named)?;
    opened.take(PROOF_BYTES_MAX + 1).read_to_end(&mut text).with_context(named)?;
    if text.len() as u64 > PROOF_BYTES_MAX {
        return Err(anyhow!("{} is too large to be a proof", file.display()));
    }
    serde_json::from_slice(&text).with_context(|| format!("{} is not a proof", file.display()))
}

fn tell(outcome: &Result<ProofResult, BadProof>, out: &mut dyn Write) -> std::io::Result<()> {
    match outcome {
        Ok(ProofResult { item, item_hash, seal, last_seal }) => {
            writeln!(out, "The proof holds: {item} is part of its owner's sealed history.")?;
            writeln!(out, "Item hash: {item_hash}\nSeal:      {seal}\nLast seal: {last_seal}")?;
            writeln!(
                out,
                "It shows this for a history that ends in the last seal; skein verify prints that of every owner."
            )
        }
        Err(bad) => writeln!(out, "The proof does not hold: {bad}."),
    }
}

fn as_json(outcome: &Result<ProofResult, BadProof>) -> serde_json::Value {
    match outcome {
        Ok(ProofResult { item, item_hash, seal, last_seal }) => json!({
            "ok": true, "item": item, "itemHash": item_hash, "seal": seal, "lastSeal": last_seal,
        }),
        Err(bad) => json!({ "ok": false, "problem": bad.to_string() }),
    }
}
