//! Transfers secrets between installations: decrypts them here, seals them under a passphrase, and the reverse.

use std::fs::File;

use skein_connect::passphrase::{self, OpenSecret, Passphrase};
use skein_connect::vault::{Vault, VaultError};
use skein_core::{RecordId, UserId, Viewer};
use skein_store::bundle::{self, SecretAtCut};
use skein_store::catalog::vault::{SealedSecret, SealedValue};
use skein_store::{StoreError, Tx};
use zeroize::Zeroizing;

use crate::catalog::Gateway;
use crate::catalog::secrets::{self, SecretValue};
use crate::engine::Engine;
use crate::error::EngineError;

impl Engine {
    /// The values of some of an owner's secrets, sealed under a passphrase; one that was replaced or destroyed since the
    /// cut is left out. Blocks.
    pub(crate) fn seal_for_travel(
        &self,
        owner: UserId,
        passphrase: &Passphrase,
        at_cut: &[SecretAtCut],
    ) -> Result<String, StoreError> {
        let wanted = at_cut.to_vec();
        let sealed = self.parts().store.read_blocking(move |tx| sealed_at(tx, owner, &wanted))?;
        let gateway = &self.parts().gateway;
        let mut open = Vec::with_capacity(sealed.len());
        for sealed in &sealed {
            let value = open_value(gateway, sealed).map_err(|error| shut(sealed.secret, &error))?;
            let value_version = u32::try_from(sealed.value.value_version).unwrap_or_default();
            open.push(OpenSecret { secret: sealed.secret.to_string(), value_version, value });
        }
        let text = passphrase::seal(passphrase, &owner.to_string(), &open);
        text.map_err(|error| StoreError::Unavailable(error.to_string()))
    }

    /// Opens the secrets of a bundle if there is a passphrase; a wrong one ends it here, before anything is written.
    pub(crate) async fn open_travelled(
        &self,
        user: UserId,
        file: File,
        passphrase: Option<Passphrase>,
    ) -> Result<(File, Vec<OpenSecret>), EngineError> {
        let Some(passphrase) = passphrase else { return Ok((file, Vec::new())) };
        let opening = self.compute().run(user, move || {
            let owner = bundle::owner_of(&file)?;
            let text = bundle::sealed_secrets(&file)?.ok_or(EngineError::PassphraseIdle)?;
            Ok((file, passphrase::open(&passphrase, &owner.to_string(), &text)?))
        });
        opening.await?
    }

    /// The same values under this installation's master key.
    pub(crate) async fn seal_travelled(
        &self,
        owner: UserId,
        open: &[OpenSecret],
    ) -> Result<Vec<(RecordId, SealedValue)>, EngineError> {
        let mut sealed = Vec::with_capacity(open.len());
        for open in open {
            let secret: RecordId = open.secret.parse().map_err(|_| StoreError::NotFound(open.secret.clone()))?;
            let value = SecretValue::from(open.value.clone());
            sealed.push((secret, self.seal(owner, secret, open.value_version, &value).await?));
        }
        Ok(sealed)
    }
}

fn sealed_at(tx: &mut Tx<'_>, owner: UserId, at_cut: &[SecretAtCut]) -> Result<Vec<SealedSecret>, StoreError> {
    let viewer = Viewer::User(owner);
    let mut found = Vec::new();
    for at_cut in at_cut {
        match tx.sealed(&viewer, at_cut.secret) {
            Ok(sealed) => found.extend(sealed.filter(|sealed| sealed.value.value_version == at_cut.value_version)),
            Err(StoreError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Another process may have made a newer key than the ones at hand.
pub(crate) fn open_value(gateway: &Gateway, sealed: &SealedSecret) -> Result<Zeroizing<Vec<u8>>, VaultError> {
    let open = |vault: &Vault| secrets::open(vault, sealed);
    match open(&gateway.vault()) {
        Err(error @ VaultError::UnknownKey(_)) => gateway.reload_keys().map_or(Err(error), |vault| open(&vault)),
        opened => opened,
    }
}

fn shut(secret: RecordId, error: &VaultError) -> StoreError {
    StoreError::Unavailable(format!("the value of {secret} stays shut: {error}"))
}
