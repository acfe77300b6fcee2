//! Secrets: named here, sealed in the vault, opened only to be used.

use serde_json::{Map, Value};
use skein_connect::credential::Credential;
use skein_connect::vault::{KeyId, SealedBytes, SealedFor, Vault, VaultError};
use skein_core::catalog::entry::Entry as _;
use skein_core::catalog::secret::{Secret, SecretChange, SecretDraft};
use skein_core::catalog::sharing;
use skein_core::garden::record::Act;
use skein_core::id::Entropy;
use skein_core::{Digest, RecordId, UserId, Viewer};
use skein_store::catalog::references::ReferenceKind;
use skein_store::catalog::vault::{SealedSecret, SealedValue};
use skein_store::{StoreError, Tx};
use zeroize::{Zeroize as _, Zeroizing};

use crate::account::Caller;
use crate::catalog::{NewVersion, SharingChange, StoredEntry, load, references, save};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Request};

/// More than a chain of certificates with its key takes.
const PARTS_BYTES_USUAL: usize = 256 << 10;

/// The value of a secret on its way into the vault; cleared from memory when it is there.
#[derive(Clone)]
pub struct SecretValue(Zeroizing<Vec<u8>>);

impl SecretValue {
    /// A key.
    pub fn text(text: String) -> Self {
        Self(Zeroizing::new(text.into_bytes()))
    }

    /// A credential of several parts, which are overwritten.
    pub fn parts(parts: Map<String, Value>) -> Self {
        let mut parts = Value::Object(parts);
        // Room enough that no copy is left behind by growing.
        let mut whole = Zeroizing::new(Vec::with_capacity(PARTS_BYTES_USUAL));
        serde_json::to_writer(&mut *whole, &parts).expect("what was JSON can be written as JSON");
        overwrite(&mut parts);
        Self(whole)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Overwrites every text in a value.
fn overwrite(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(elements) => elements.iter_mut().for_each(overwrite),
        Value::Object(members) => members.values_mut().for_each(overwrite),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl From<Zeroizing<Vec<u8>>> for SecretValue {
    fn from(bytes: Zeroizing<Vec<u8>>) -> Self {
        Self(bytes)
    }
}

impl std::fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretValue(…)")
    }
}

impl Engine {
    /// Puts a credential into the vault under a name.
    pub async fn create_secret(
        &self,
        caller: &Caller,
        request: Request,
        draft: SecretDraft,
        value: SecretValue,
    ) -> Result<CommittedChange<StoredEntry<Secret>>, EngineError> {
        Credential::check(draft.secret_type, value.bytes()).map_err(StoreError::from)?;
        let (shared, secret) = (draft.shared, Secret::create(draft));
        let id = self.draw_id().await?;
        let create = async || {
            let (secret, sealed) = (secret.clone(), self.seal(caller.user, id, secret.value_version, &value).await?);
            self.change(caller, request, "secret.create", move |tx, viewer| {
                let made = tx.create_entry_as(viewer, id, secret.to_content(shared), None)?;
                tx.put_sealed(viewer, id, &sealed)?;
                made.try_into()
            })
            .await
        };
        self.while_key_changes(create).await
    }

    /// Replaces the value, or changes what a secret is called.
    pub async fn change_secret(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
        (change, value): (SecretChange, Option<SecretValue>),
        based_on: Option<Digest>,
    ) -> Result<CommittedChange<StoredEntry<Secret>>, EngineError> {
        let replace = async || {
            let sealed = match &value {
                Some(value) => Some(self.seal_next(caller, id, value).await?),
                None => None,
            };
            let change = change.clone();
            self.change(caller, request, "secret.change", move |tx, viewer| {
                let current: StoredEntry<Secret> = load(tx, viewer, id)?;
                let mut next = current.entry.change(change.clone())?;
                let mut saving = NewVersion::based_on(&current, based_on);
                if sealed.is_some() {
                    (next, saving.act) = (next.rotate(), Act::Rotated);
                }
                let shown = save(tx, viewer, &current, &next, saving)?;
                sealed.as_ref().map_or(Ok(()), |sealed| tx.put_sealed(viewer, id, sealed))?;
                Ok(shown)
            })
            .await
        };
        self.while_key_changes(replace).await
    }

    /// Sets the flag, which has no effect (decision A13).
    pub async fn share_secret(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
        shared: bool,
    ) -> Result<CommittedChange<SharingChange<Secret>>, EngineError> {
        self.reshare(caller, request, "secret.share", (id, shared), |_, _| Ok(None)).await
    }

    /// Deletes a secret that nothing uses, and destroys its value.
    pub async fn delete_secret(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
    ) -> Result<CommittedChange<StoredEntry<Secret>>, EngineError> {
        self.change(caller, request, "secret.delete", move |tx, viewer| {
            let current: StoredEntry<Secret> = load(tx, viewer, id)?;
            sharing::check_change(viewer, current.standing(), tx.now())?;
            sharing::check_secret_deletion(references(tx.referrers(id, ReferenceKind::Secret, current.owner)?))?;
            tx.delete_record(viewer, id, None, None)?.try_into()
        })
        .await
    }

    /// An id for what has to be sealed for it before it is made.
    async fn draw_id(&self) -> Result<RecordId, EngineError> {
        let mut bits = [0; 10];
        getrandom::fill(&mut bits).map_err(|_| VaultError::Randomness)?;
        let now = self.parts().store.read(|tx| Ok(tx.now())).await?;
        Ok(RecordId::new(now, Entropy(bits)))
    }

    /// Seals the value that takes the place of the current one.
    async fn seal_next(&self, caller: &Caller, id: RecordId, value: &SecretValue) -> Result<SealedValue, EngineError> {
        let viewer = caller.acting();
        let look = move |tx: &mut Tx<'_>| load::<Secret>(tx, &viewer, id);
        let current = self.parts().store.look_up(look).await?;
        Credential::check(current.entry.secret_type, value.bytes()).map_err(StoreError::from)?;
        self.seal(caller.user, id, current.entry.value_version + 1, value).await
    }

    pub(crate) async fn seal(
        &self,
        owner: UserId,
        id: RecordId,
        value_version: u32,
        value: &SecretValue,
    ) -> Result<SealedValue, EngineError> {
        let (owner, secret) = (owner.bare(), id.bare());
        let place = SealedFor { owner: &owner, secret: &secret, value_version };
        let SealedBytes { key_id, wrapped_key, ciphertext } = self.sealing_vault().await?.seal(value.bytes(), place)?;
        let (value_version, key_id) = (value_version.into(), key_id.as_str().to_owned());
        Ok(SealedValue { value_version, key_id, wrapped_key, ciphertext })
    }

    /// Keeps the value that came of using a secret, such as a renewed token, unless somebody else replaced it meanwhile.
    pub(crate) async fn keep_renewed(&self, used: &SealedSecret, value: SecretValue) -> Result<(), EngineError> {
        let id = used.secret;
        let version = u32::try_from(used.value.value_version).unwrap_or(u32::MAX).saturating_add(1);
        let keep = async || {
            let (sealed, owner) = (self.seal(used.owner, id, version, &value).await?, Viewer::User(used.owner));
            let keep = move |tx: &mut Tx<'_>| {
                let current: StoredEntry<Secret> = load(tx, &owner, id)?;
                if i64::from(current.entry.value_version) + 1 != sealed.value_version {
                    return Ok(());
                }
                let saving = NewVersion { act: Act::Rotated, ..NewVersion::of(&current) };
                save(tx, &owner, &current, &current.entry.rotate(), saving)?;
                tx.put_sealed(&owner, id, &sealed)
            };
            self.parts().store.write(keep).await?;
            Ok(())
        };
        self.while_key_changes(keep).await
    }
}

/// Opens the value of a secret.
pub(crate) fn open(vault: &Vault, sealed: &SealedSecret) -> Result<Zeroizing<Vec<u8>>, VaultError> {
    let (owner, secret) = (sealed.owner.bare(), sealed.secret.bare());
    let value_version = u32::try_from(sealed.value.value_version).unwrap_or_default();
    let place = SealedFor { owner: &owner, secret: &secret, value_version };
    vault.open(&stored(&sealed.value), place)
}

/// A sealed value as the vault knows it.
pub(crate) fn stored(value: &SealedValue) -> SealedBytes {
    let SealedValue { key_id, wrapped_key, ciphertext, .. } = value.clone();
    SealedBytes { key_id: KeyId::stored(key_id), wrapped_key, ciphertext }
}
