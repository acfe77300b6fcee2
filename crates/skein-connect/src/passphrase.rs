//! Seals the values of secrets under a passphrase, for a bundle that leaves the installation and its master key.
//!
//! The key is stretched from the passphrase by Argon2id, whose costs and salt stand beside what it seals. Each value is
//! XChaCha20-Poly1305 as in the [`crate::vault`], bound to whose it is, which secret, which version and this layout. What is
//! read was written by anybody, so the costs it names are bounded. Start at [`seal`] and [`open`].

use std::fmt;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::vault::{MasterKey, SealedFor, VaultError};

/// The layout written; every one up to it is read.
const FORMAT: u64 = 1;
const LAYOUT: &[u8] = b"skein bundle secret 1";
const ALGORITHM: &str = "argon2id";
const SALT_BYTES: usize = 16;
const KEY_BYTES: usize = 32;
/// Shorter ones are guessed, however dear each guess is.
const PASSPHRASE_CHARS_MIN: usize = 12;
const PASSPHRASE_BYTES_MAX: usize = 1_024;
/// The second choice of RFC 9106, one lane: a fraction of a second each time.
const COST: Cost = Cost { memory_kib: 64 << 10, passes: 3, lanes: 1 };
/// The most a bundle may ask for: somebody else chose the numbers in it.
const COST_MAX: Cost = Cost { memory_kib: 128 << 10, passes: 6, lanes: 4 };

/// The passphrase of a bundle, known to its creator alone. Cannot be shown, and is cleared from memory when dropped.
#[derive(Clone)]
pub struct Passphrase(Zeroizing<String>);

/// A text that is no passphrase; it is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a passphrase has at least {PASSPHRASE_CHARS_MIN} characters and at most {PASSPHRASE_BYTES_MAX} bytes")]
pub struct BadPassphrase;

impl Passphrase {
    pub fn new(text: Zeroizing<String>) -> Result<Self, BadPassphrase> {
        let fits = text.chars().count() >= PASSPHRASE_CHARS_MIN && text.len() <= PASSPHRASE_BYTES_MAX;
        if fits { Ok(Self(text)) } else { Err(BadPassphrase) }
    }

    /// As it is sent beside a request: its UTF-8 in base64, so that any letter can be in it.
    pub fn from_base64(sent: &[u8]) -> Result<Self, BadPassphrase> {
        let bytes = Zeroizing::new(STANDARD.decode(sent).map_err(|_| BadPassphrase)?);
        let text = std::str::from_utf8(&bytes).map_err(|_| BadPassphrase)?;
        Self::new(Zeroizing::new(text.to_owned()))
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(…)")
    }
}

/// The value of a secret, open.
pub struct OpenSecret {
    /// Its id, as it is written outside.
    pub secret: String,
    pub value_version: u32,
    pub value: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for OpenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "version {} of {}", self.value_version, self.secret)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotOpened {
    #[error("the passphrase is not the one the secrets were sealed with, or they were altered since")]
    WrongPassphrase,
    #[error("the sealed secrets cannot be read: {0}")]
    Unreadable(String),
    #[error(transparent)]
    Vault(#[from] VaultError),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SealedDocument {
    format: u64,
    key: Derivation,
    secrets: Vec<SealedSecret>,
}

/// How the key comes of the passphrase.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Derivation {
    algorithm: String,
    version: u32,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    salt: String,
}

#[derive(Debug, Clone, Copy)]
struct Cost {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SealedSecret {
    id: String,
    value_version: u32,
    sealed: String,
}

/// One line of JSON in which everything that was open is sealed.
pub fn seal(passphrase: &Passphrase, owner: &str, secrets: &[OpenSecret]) -> Result<String, VaultError> {
    seal_at(COST, passphrase, owner, secrets)
}

fn seal_at(cost: Cost, passphrase: &Passphrase, owner: &str, secrets: &[OpenSecret]) -> Result<String, VaultError> {
    let mut salt = [0; SALT_BYTES];
    getrandom::fill(&mut salt).map_err(|_| VaultError::Randomness)?;
    let key = cost.stretch(passphrase, &salt).ok_or(VaultError::Broken)?;
    let seal = |open: &OpenSecret| {
        let sealed = key.encrypt(&open.value, &place(owner, &open.secret, open.value_version))?;
        let (id, value_version) = (open.secret.clone(), open.value_version);
        Ok(SealedSecret { id, value_version, sealed: STANDARD.encode(sealed) })
    };
    let secrets = secrets.iter().map(seal).collect::<Result<_, VaultError>>()?;
    let (algorithm, version) = (ALGORITHM.to_owned(), Version::V0x13.into());
    let Cost { memory_kib, passes, lanes } = cost;
    let key = Derivation { algorithm, version, memory_kib, passes, lanes, salt: STANDARD.encode(salt) };
    Ok(serde_json::to_string(&SealedDocument { format: FORMAT, key, secrets }).expect("texts and numbers"))
}

/// Everything that was sealed, or nothing.
pub fn open(passphrase: &Passphrase, owner: &str, text: &str) -> Result<Vec<OpenSecret>, NotOpened> {
    let document: SealedDocument =
        serde_json::from_str(text).map_err(|error| NotOpened::Unreadable(format!("at column {}", error.column())))?;
    let unreadable = |problem: &str| NotOpened::Unreadable(problem.to_owned());
    if document.format != FORMAT {
        return Err(unreadable("they have a format that this version does not know; use a newer skein"));
    }
    let Derivation { algorithm, version, memory_kib, passes, lanes, salt } = document.key;
    let cost = Cost { memory_kib, passes, lanes };
    if algorithm != ALGORITHM || version != u32::from(Version::V0x13) {
        return Err(unreadable("their key is made in a way that this version does not know"));
    }
    if !cost.is_bounded() {
        return Err(unreadable("making their key would cost more than any skein asks for"));
    }
    let salt = STANDARD.decode(salt).map_err(|_| unreadable("their salt is not base64"))?;
    let key = cost.stretch(passphrase, &salt).ok_or_else(|| unreadable("their key cannot be made"))?;
    let open = |sealed: SealedSecret| {
        let bytes = STANDARD.decode(sealed.sealed).map_err(|_| unreadable("one of them is not base64"))?;
        let value = key.decrypt(&bytes, &place(owner, &sealed.id, sealed.value_version));
        let value = value.map_err(|_| NotOpened::WrongPassphrase)?;
        Ok(OpenSecret { secret: sealed.id, value_version: sealed.value_version, value })
    };
    document.secrets.into_iter().map(open).collect()
}

fn place(owner: &str, secret: &str, value_version: u32) -> Vec<u8> {
    SealedFor { owner, secret, value_version }.bytes_as(LAYOUT)
}

impl Cost {
    fn is_bounded(self) -> bool {
        self.memory_kib <= COST_MAX.memory_kib && self.passes <= COST_MAX.passes && self.lanes <= COST_MAX.lanes
    }

    /// Nothing when the numbers make no sense.
    fn stretch(self, passphrase: &Passphrase, salt: &[u8]) -> Option<MasterKey> {
        let params = Params::new(self.memory_kib, self.passes, self.lanes, Some(KEY_BYTES)).ok()?;
        let mut memory = Zeroizing::new(vec![Block::default(); params.block_count()]);
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        argon2.hash_password_into_with_memory(passphrase.0.as_bytes(), salt, &mut *key, memory.as_mut_slice()).ok()?;
        Some(MasterKey::from(*key))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// As little as Argon2 takes.
    const CHEAP: Cost = Cost { memory_kib: 8, passes: 1, lanes: 1 };

    fn phrase(text: &str) -> Passphrase {
        Passphrase::new(Zeroizing::new(text.to_owned())).unwrap()
    }

    fn secret(id: &str, value: &str) -> OpenSecret {
        OpenSecret { secret: id.to_owned(), value_version: 3, value: Zeroizing::new(value.into()) }
    }

    fn sealed() -> String {
        let secrets = [secret("entity_1", "canary one"), secret("entity_2", "canary two")];
        seal_at(CHEAP, &phrase("correct horse battery"), "anna", &secrets).unwrap()
    }

    #[test]
    fn what_was_sealed_opens_with_its_passphrase_and_shows_nothing() {
        let text = sealed();
        assert!(!text.contains("canary") && !text.contains("horse"), "{text}");
        let opened = open(&phrase("correct horse battery"), "anna", &text).unwrap();
        let opened: Vec<(&str, u32, &[u8])> =
            opened.iter().map(|open| (open.secret.as_str(), open.value_version, open.value.as_slice())).collect();
        assert_eq!(opened, [("entity_1", 3, b"canary one".as_slice()), ("entity_2", 3, b"canary two")]);
        assert_ne!(text, sealed());
    }

    #[test]
    fn another_passphrase_owner_secret_or_version_opens_nothing() {
        let text = sealed();
        let refused = |phrase_text: &str, owner: &str, text: &str| open(&phrase(phrase_text), owner, text).unwrap_err();
        assert_eq!(refused("correct horse batterx", "anna", &text), NotOpened::WrongPassphrase);
        assert_eq!(refused("correct horse battery", "bert", &text), NotOpened::WrongPassphrase);
        for (was, becomes) in [("entity_1", "entity_9"), ("\"valueVersion\":3", "\"valueVersion\":4")] {
            let moved = text.replacen(was, becomes, 1);
            assert_eq!(refused("correct horse battery", "anna", &moved), NotOpened::WrongPassphrase, "{moved}");
        }
    }

    #[test]
    fn what_nobody_would_have_written_is_refused_before_it_costs_anything() {
        let change = |path: &str, value: Value| {
            let mut document: Value = serde_json::from_str(&sealed()).unwrap();
            *document.pointer_mut(path).unwrap() = value;
            open(&phrase("correct horse battery"), "anna", &document.to_string())
        };
        for (path, value) in [
            ("/format", json!(2)),
            ("/key/algorithm", json!("scrypt")),
            ("/key/version", json!(16)),
            ("/key/memoryKib", json!(u32::MAX)),
            ("/key/memoryKib", json!(0)),
            ("/key/passes", json!(1_000_000)),
            ("/key/lanes", json!(0)),
            ("/key/salt", json!("")),
            ("/key/salt", json!("%")),
            ("/secrets/0/sealed", json!("%")),
        ] {
            assert!(matches!(change(path, value), Err(NotOpened::Unreadable(_))), "{path}");
        }
        assert!(matches!(open(&phrase("correct horse battery"), "anna", "[]"), Err(NotOpened::Unreadable(_))));
    }

    #[test]
    fn a_passphrase_is_long_enough_and_never_shown() {
        for text in ["", "short", "elevenchars", &"x".repeat(PASSPHRASE_BYTES_MAX + 1)] {
            assert_eq!(Passphrase::new(Zeroizing::new(text.to_owned())).unwrap_err(), BadPassphrase);
        }
        assert_eq!(format!("{:?}", phrase("twelve chars")), "Passphrase(…)");
        assert_eq!(*Passphrase::from_base64(b"dHdlbHZlIGNow6Ryc8O8").unwrap().0, "twelve chärsü");
        for sent in ["", "twelve chars", "c2hvcnQ=", "//////////////////////8="] {
            assert_eq!(Passphrase::from_base64(sent.as_bytes()).unwrap_err(), BadPassphrase, "{sent}");
        }
    }

    #[test]
    fn the_costs_that_are_written_are_ones_that_are_read() {
        assert!(COST.is_bounded());
        let text = seal(&phrase("correct horse battery"), "anna", &[secret("entity_1", "canary")]).unwrap();
        assert!(text.contains(r#""memoryKib":65536,"passes":3,"lanes":1"#), "{text}");
        assert_eq!(open(&phrase("correct horse battery"), "anna", &text).unwrap().len(), 1);
    }
}
