//! `skein vault remove-keys`: takes master keys out of the key file that no value of the named databases is under.
//!
//! A rotation never removes a key, since another database may use the same file. A person names the keys, and the other
//! databases, or says that there are none. The databases are checked while no rotation can change the file.

use std::io::Write;

use anyhow::anyhow;
use skein_connect::vault::KeyId;
use skein_store::Location;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::plan::KeyRemoval;
use crate::prompt::confirm;
use crate::storage_location;
use crate::vault_report::{self, VaultReport};

pub(crate) fn run(removal: &KeyRemoval, out: &mut dyn Write) -> Result<Exit, Failure> {
    let KeyRemoval { place, keys, others, is_sure } = removal;
    let databases: Vec<Location> = std::iter::once(place.location()).chain(others.iter().cloned()).collect();
    let check = || databases.iter().try_for_each(|database| removal.check(database));
    // Before anybody is asked, and again while the file is locked.
    check()?;
    if !is_sure {
        let loss = format!(
            "{} will be removed for ever; values of other databases and of backups under them cannot be opened then",
            listed(keys)
        );
        confirm(&loss, "no key was removed")?;
    }
    let left = place.master_key.remove_checked(keys, check)?;
    writeln!(out, "Removed {}. Keys left: {left}.", listed(keys))?;
    Ok(Exit::Ok)
}

fn listed(keys: &[KeyId]) -> String {
    let keys: Vec<&str> = keys.iter().map(KeyId::as_str).collect();
    keys.join(", ")
}

impl KeyRemoval {
    /// Refuses unless every value of a database opens, under its current key and none of those that are to go.
    fn check(&self, database: &Location) -> Result<(), Failure> {
        let report = VaultReport::read(&storage_location::open_read_only(database.clone())?, &self.place.master_key)?;
        let shown = storage_location::location_shown(database);
        if let Some(rotation) = report.unended_rotation() {
            let error = anyhow!("the rotation {rotation} of {shown} has not ended");
            return Err(Failure::new(
                Exit::Conflict,
                error,
                "run skein vault rotate there, which follows it to its end",
            ));
        }
        if !report.is_readable() {
            let error = anyhow!("values of {shown} do not open: {}", report.values_told());
            return Err(Failure::new(Exit::Refused, error, vault_report::REMEDY));
        }
        if let Some(key) = self.keys.iter().find(|key| report.needs(key)) {
            let error = anyhow!("{shown} needs the master key {key}: {}", report.values_told());
            return Err(Failure::new(
                Exit::Refused,
                error,
                "run skein vault rotate there first, which makes a new key",
            ));
        }
        if !report.is_under_one_key() {
            let error = anyhow!("values of {shown} are under several master keys: {}", report.values_told());
            return Err(Failure::new(Exit::Refused, error, "run skein vault rotate there first"));
        }
        Ok(())
    }
}
