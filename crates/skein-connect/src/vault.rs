//! Seals the values of secrets, so that the database alone reveals none of them.
//!
//! Each value has a data key of its own, and only that is sealed by the master key: another master key
//! means wrapping the data keys again, not touching the values. Ciphertext is bound to whose secret it is and
//! to which version, so a row moved elsewhere opens for nobody. Both parts are XChaCha20-Poly1305 with 24 random
//! bytes in front. Keeps nothing and reads no file. Start at [`Vault::seal`] and [`Vault::open`].

use std::fmt;

use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sha2::{Digest as _, Sha256};
use skein_core::digest::to_hex;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;
/// How much of the digest of a master key names it.
const KEY_ID_BYTES: usize = 8;
/// What a data key is sealed for; the number grows should the layout ever change.
const WRAPPED_KEY: &[u8] = b"skein vault data key 1";
const VALUE: &[u8] = b"skein vault value 1";

/// The key above all others. Kept outside the database.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct MasterKey([u8; KEY_BYTES]);

/// The name of a master key, from which nothing about the key can be learnt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyId(String);

/// A sealed value, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedBytes {
    pub key_id: KeyId,
    pub wrapped_key: Vec<u8>,
    pub ciphertext: Vec<u8>,
}

/// Whose value it is, and which one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealedFor<'a> {
    pub owner: &'a str,
    pub secret: &'a str,
    pub value_version: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    #[error("the master key {0} is missing; add it to the older keys, or restore the key file it is in")]
    UnknownKey(String),
    #[error("a sealed value was altered, or belongs to another secret; restore it from a backup or write it anew")]
    Broken,
    #[error("this machine gives no random numbers")]
    Randomness,
}

/// The master keys in use: one that seals, and older ones that still open.
#[derive(Clone)]
pub struct Vault {
    current: MasterKey,
    older: Vec<MasterKey>,
}

impl Vault {
    pub fn new(current: MasterKey, older: Vec<MasterKey>) -> Self {
        Self { current, older }
    }

    /// The key that seals; values under another one are due for [`Vault::rewrap`].
    pub fn current_key(&self) -> KeyId {
        self.current.id()
    }

    /// Whether a key is among them.
    pub fn holds(&self, key: &KeyId) -> bool {
        self.keys().any(|held| held.id() == *key)
    }

    /// The same keys, of which another one seals; `None` when it is not among them.
    pub fn sealing_with(&self, key: &KeyId) -> Option<Self> {
        let current = self.keys().find(|held| held.id() == *key)?.clone();
        let older = self.keys().filter(|held| held.id() != *key).cloned().collect();
        Some(Self { current, older })
    }

    /// One of the keys alone; `None` when it is not among them.
    pub fn only(&self, key: &KeyId) -> Option<Self> {
        self.keys().find(|held| held.id() == *key).map(|key| Self::new(key.clone(), Vec::new()))
    }

    /// The ids of all keys, the one that seals first.
    pub fn key_ids(&self) -> Vec<KeyId> {
        self.keys().map(MasterKey::id).collect()
    }

    fn keys(&self) -> impl Iterator<Item = &MasterKey> {
        std::iter::once(&self.current).chain(&self.older)
    }

    pub fn seal(&self, plaintext: &[u8], place: SealedFor<'_>) -> Result<SealedBytes, VaultError> {
        let data_key = MasterKey::random()?;
        let ciphertext = data_key.encrypt(plaintext, &place.bytes())?;
        Ok(SealedBytes {
            key_id: self.current.id(),
            wrapped_key: self.current.encrypt(&data_key.0, WRAPPED_KEY)?,
            ciphertext,
        })
    }

    pub fn open(&self, sealed: &SealedBytes, place: SealedFor<'_>) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        self.data_key(sealed)?.decrypt(&sealed.ciphertext, &place.bytes())
    }

    /// The same value under the current master key. The value itself is neither opened nor changed.
    pub fn rewrap(&self, sealed: &SealedBytes) -> Result<SealedBytes, VaultError> {
        let data_key = self.data_key(sealed)?;
        let wrapped_key = self.current.encrypt(&data_key.0, WRAPPED_KEY)?;
        Ok(SealedBytes { key_id: self.current.id(), wrapped_key, ciphertext: sealed.ciphertext.clone() })
    }

    fn data_key(&self, sealed: &SealedBytes) -> Result<MasterKey, VaultError> {
        let master = self.keys().find(|key| key.id() == sealed.key_id);
        let master = master.ok_or_else(|| VaultError::UnknownKey(sealed.key_id.to_string()))?;
        let data_key = master.decrypt(&sealed.wrapped_key, WRAPPED_KEY)?;
        Ok(MasterKey(data_key.as_slice().try_into().map_err(|_| VaultError::Broken)?))
    }
}

impl MasterKey {
    pub fn random() -> Result<Self, VaultError> {
        let mut key = Self([0; KEY_BYTES]);
        getrandom::fill(&mut key.0).map_err(|_| VaultError::Randomness)?;
        Ok(key)
    }

    pub fn id(&self) -> KeyId {
        KeyId(to_hex(&Sha256::digest(self.0)[..KEY_ID_BYTES]))
    }

    pub(crate) fn encrypt(&self, plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>, VaultError> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|_| VaultError::Randomness)?;
        let payload = Payload { msg: plaintext, aad };
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), payload).map_err(|_| VaultError::Broken)?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    pub(crate) fn decrypt(&self, sealed: &[u8], aad: &[u8]) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let (nonce, msg) = sealed.split_first_chunk::<NONCE_BYTES>().ok_or(VaultError::Broken)?;
        let opened = self.cipher().decrypt(&XNonce::from(*nonce), Payload { msg, aad });
        opened.map(Zeroizing::new).map_err(|_| VaultError::Broken)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&self.0).into())
    }
}

impl SealedFor<'_> {
    fn bytes(&self) -> Vec<u8> {
        self.bytes_as(VALUE)
    }

    /// Lengths stand before texts, so that no two places have the same bytes.
    pub(crate) fn bytes_as(&self, layout: &[u8]) -> Vec<u8> {
        let mut bytes = layout.to_vec();
        for text in [self.owner, self.secret] {
            bytes.extend_from_slice(&(text.len() as u64).to_be_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes.extend_from_slice(&self.value_version.to_be_bytes());
        bytes
    }
}

impl From<[u8; KEY_BYTES]> for MasterKey {
    fn from(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }
}

impl KeyId {
    /// The name as it was stored.
    pub fn stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey(…)")
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Vault(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINE: SealedFor<'_> = SealedFor { owner: "user_a", secret: "entity_1", value_version: 1 };

    fn vault() -> Vault {
        Vault::new(MasterKey::random().unwrap(), Vec::new())
    }

    #[test]
    fn br_secret_001_a_sealed_value_opens_for_its_place_and_holds() {
        let vault = vault();
        for value in [b"".as_slice(), b"canary", &[0xff; 10_000]] {
            let sealed = vault.seal(value, MINE).unwrap();
            assert_eq!(*vault.open(&sealed, MINE).unwrap(), value);
        }
    }

    #[test]
    fn br_secret_001_another_place_key_or_byte_is_refused_and_refuses() {
        let vault = vault();
        let sealed = vault.seal(b"canary", MINE).unwrap();
        let others = [
            SealedFor { owner: "user_b", ..MINE },
            SealedFor { secret: "entity_2", ..MINE },
            SealedFor { value_version: 2, ..MINE },
            SealedFor { owner: "user_", secret: "aentity_1", ..MINE },
        ];
        for other in others {
            assert_eq!(vault.open(&sealed, other), Err(VaultError::Broken), "{other:?}");
        }
        for at in 0..sealed.ciphertext.len() {
            let mut altered = sealed.clone();
            altered.ciphertext[at] ^= 1;
            assert_eq!(vault.open(&altered, MINE), Err(VaultError::Broken));
        }
        for at in 0..sealed.wrapped_key.len() {
            let mut altered = sealed.clone();
            altered.wrapped_key[at] ^= 1;
            assert_eq!(vault.open(&altered, MINE), Err(VaultError::Broken));
        }
        let stranger = Vault::new(MasterKey::random().unwrap(), Vec::new());
        assert_eq!(stranger.open(&sealed, MINE), Err(VaultError::UnknownKey(sealed.key_id.to_string())));
    }

    #[test]
    fn two_seals_of_one_value_share_nothing() {
        let vault = vault();
        let (one, two) = (vault.seal(b"canary", MINE).unwrap(), vault.seal(b"canary", MINE).unwrap());
        assert_ne!(one.ciphertext, two.ciphertext);
        assert_ne!(one.wrapped_key, two.wrapped_key);
        let swapped = SealedBytes { wrapped_key: two.wrapped_key, ..one };
        assert_eq!(vault.open(&swapped, MINE), Err(VaultError::Broken));
    }

    #[test]
    fn a_new_master_key_wraps_the_data_key_and_leaves_the_value() {
        let (old, new) = (MasterKey::random().unwrap(), MasterKey::random().unwrap());
        let sealed = Vault::new(old.clone(), Vec::new()).seal(b"canary", MINE).unwrap();
        let both = Vault::new(new.clone(), vec![old]);
        assert_eq!(*both.open(&sealed, MINE).unwrap(), b"canary");
        let wrapped = both.rewrap(&sealed).unwrap();
        assert_eq!((wrapped.key_id.clone(), &wrapped.ciphertext), (new.id(), &sealed.ciphertext));
        assert_eq!(*Vault::new(new, Vec::new()).open(&wrapped, MINE).unwrap(), b"canary");
    }

    #[test]
    fn a_key_is_named_by_the_beginning_of_its_digest() {
        assert_eq!(MasterKey::from([0; KEY_BYTES]).id().as_str(), "66687aadf862bd77");
    }

    #[test]
    fn nothing_is_shown_of_a_key() {
        let key = MasterKey::from([0xab; KEY_BYTES]);
        let vault = Vault::new(key.clone(), vec![key.clone()]);
        assert_eq!(format!("{key:?} {vault:?}"), "MasterKey(…) Vault(…)");
    }
}
