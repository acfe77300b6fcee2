//! The master keys of the vault: in a file that its owner alone can read, or in the environment.
//!
//! A file has one key per line, 32 bytes in base64 (URL-safe, without padding): the current one first, after it older
//! ones that a secret may still be kept under. `#` begins a comment. What a key is for is not known here. Start at
//! [`KeySource::ensure`].

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Error, anyhow};
use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose::NO_PAD};
use skein_connect::vault::{KeyId, MasterKey};
use skein_core::digest::to_hex;
use skein_engine::catalog::{KeyKeeper, remove_keys};
use skein_engine::halt_at;
use zeroize::Zeroizing;

use crate::configuration::Configuration;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::Name;

const FILE: &str = "master.key";
const KEY_BYTES: usize = 32;
/// More than a thousand rotations.
const FILE_BYTES_MAX: usize = 64 << 10;
/// A key in base64 and the end of its line.
const LINE_BYTES: usize = (KEY_BYTES * 8).div_ceil(6) + 1;
const OWNER_ONLY: u32 = 0o600;
/// The permissions of everybody but the owner.
const OTHERS: u32 = 0o077;
const HEADING: &str = "\
# Master keys of Skein, the current one first. Whoever has them can read every secret; without them nobody can.
# A backup does not hold them: keep a copy of this file elsewhere.
";

/// Written without padding; a key that another program wrote may have it.
const BASE64: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::URL_SAFE, lenient(NO_PAD));

const fn lenient(config: GeneralPurposeConfig) -> GeneralPurposeConfig {
    config.with_decode_padding_mode(DecodePaddingMode::Indifferent)
}

/// At least one key, the current one first; overwritten with zeros when dropped, and never shown.
#[derive(Clone)]
pub(crate) struct MasterKeys(Zeroizing<Vec<[u8; KEY_BYTES]>>);

impl MasterKeys {
    fn to_vault(&self) -> Vec<MasterKey> {
        self.0.iter().map(|key| MasterKey::from(*key)).collect()
    }

    /// The current one, then older ones.
    pub(crate) fn all(&self) -> &[[u8; KEY_BYTES]] {
        &self.0
    }
}

impl fmt::Debug for MasterKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} master keys", self.0.len())
    }
}

/// Where the keys are.
#[derive(Debug, Clone)]
pub(crate) enum KeySource {
    File(PathBuf),
    Environment(MasterKeys),
}

impl KeySource {
    pub(crate) fn resolve(configuration: &Configuration, dir: &Path) -> Result<Self, Failure> {
        let older = configuration.list(Name::VaultOlderKeys);
        let Some(current) = configuration.text(Name::VaultKey) else {
            if !older.is_empty() {
                let error = anyhow!("SKEIN_VAULT_OLDER_KEYS is set without SKEIN_VAULT_KEY");
                return Err(Failure::usage(error, "set SKEIN_VAULT_KEY as well, or list the keys in the key file"));
            }
            let named = configuration.path(Name::VaultKeyFile).map(Path::to_owned);
            return Ok(Self::File(named.unwrap_or_else(|| dir.join(FILE))));
        };
        let keys = std::iter::once(current).chain(older.iter().map(String::as_str)).map(parse_key);
        let keys: Option<Zeroizing<Vec<_>>> = keys.collect::<Option<Vec<_>>>().map(Zeroizing::new);
        keys.map(MasterKeys).map(Self::Environment).ok_or_else(|| {
            let error = anyhow!("SKEIN_VAULT_KEY or SKEIN_VAULT_OLDER_KEYS is not made of keys");
            Failure::usage(error, KEY_HINT)
        })
    }

    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::File(path) if !path.exists())
    }

    /// The keys; a file that is missing is made first, with a fresh key.
    pub(crate) fn ensure(&self) -> Result<MasterKeys, Failure> {
        if let Self::File(path) = self
            && !path.exists()
        {
            make(path).map_err(|error| cannot("make", path, error))?;
        }
        self.read()
    }

    /// Changes the keys in the file: one process at a time, and durable when it returns. No other process changes them
    /// while `change` decides.
    fn replace(
        &self,
        doing: &str,
        change: impl FnOnce(&mut Vec<[u8; KEY_BYTES]>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Self::File(named) = self else { return Ok(()) };
        // A link stays: the file that it leads to is replaced.
        let path = &fs::canonicalize(named).map_err(|error| cannot("find", named, error))?;
        let held = lock(path).map_err(|error| cannot("lock", path, error))?;
        let mut keys = read(path)?;
        let capacity = keys.0.len() + 1;
        let mut changed = Zeroizing::new(Vec::with_capacity(capacity));
        changed.append(&mut keys.0);
        change(&mut changed)?;
        if HEADING.len() + changed.len() * LINE_BYTES > FILE_BYTES_MAX {
            return Err(too_large(path));
        }
        let beside = beside(path, "new");
        let written = remove_if_there(&beside).and_then(|()| write_durably(&beside, &changed)).and_then(|()| {
            halt_at(&format!("key-file.{doing}"));
            fs::rename(&beside, path)
        });
        written.and_then(|()| sync_directory(path)).map_err(|error| cannot("change", path, error))?;
        drop(held);
        Ok(())
    }

    /// Removes keys that `check` lets go, and returns how many stay. No rotation changes the file while `check` decides. The
    /// first key always stays.
    pub(crate) fn remove_checked(
        &self,
        removed: &[KeyId],
        check: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<usize, Failure> {
        let Self::File(path) = self else {
            let error = anyhow!("the master keys are in {}", self.place());
            return Err(Failure::usage(error, "take the keys out of SKEIN_VAULT_OLDER_KEYS and restart every server"));
        };
        let mut left = 0;
        self.replace("remove", |keys| {
            let held: Vec<KeyId> = keys.iter().map(id).collect();
            if let Some(missing) = removed.iter().find(|key| !held.contains(key)) {
                let error = anyhow!("the master key {missing} is not in {}", path.display());
                return Err(Failure::new(Exit::NotFound, error, "skein doctor lists the keys that can be removed"));
            }
            if removed.contains(&held[0]) {
                let error = anyhow!("the master key {} is the first one in {}", held[0], path.display());
                return Err(Failure::new(Exit::Refused, error, "run skein vault rotate first; a new key comes first"));
            }
            check()?;
            remove_keys(keys, removed, id);
            left = keys.len();
            Ok(())
        })?;
        Ok(left)
    }

    /// The keys that are there.
    pub(crate) fn read(&self) -> Result<MasterKeys, Failure> {
        match self {
            Self::File(path) => read(path),
            Self::Environment(keys) => Ok(keys.clone()),
        }
    }
}

/// Keys of the environment belong to the person who started the server and are never changed here.
impl KeyKeeper for KeySource {
    fn keys(&self) -> Result<Vec<MasterKey>, String> {
        self.read().map(|keys| keys.to_vault()).map_err(|failure| failure.to_string())
    }

    fn add(&self) -> Result<KeyId, String> {
        if let Self::Environment(keys) = self {
            return Ok(id(&keys.0[0]));
        }
        let fresh = draw();
        let added = self.replace("add", |keys| {
            keys.push(*fresh);
            Ok(())
        });
        added.map_err(|failure| failure.to_string())?;
        Ok(id(&fresh))
    }

    fn put_first(&self, key: &KeyId) -> Result<(), String> {
        let changed = self.replace("put-first", |keys| {
            keys.sort_by_key(|held| id(held) != *key);
            if keys.first().map(id).as_ref() == Some(key) {
                return Ok(());
            }
            let error = anyhow!("the master key {key} is not in {}", self.place());
            Err(Failure::new(
                Exit::Failed,
                error,
                "add it from a copy of the file; every secret is kept under such keys",
            ))
        });
        changed.map_err(|failure| failure.to_string())
    }

    fn remove(&self, removed: &[KeyId]) -> Result<(), String> {
        if removed.is_empty() {
            return Ok(());
        }
        let changed = self.replace("remove", |keys| {
            remove_keys(keys, removed, id);
            Ok(())
        });
        changed.map_err(|failure| failure.to_string())
    }

    fn place(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Environment(_) => "SKEIN_VAULT_KEY and SKEIN_VAULT_OLDER_KEYS".to_owned(),
        }
    }
}

fn id(key: &[u8; KEY_BYTES]) -> KeyId {
    MasterKey::from(*key).id()
}

const KEY_HINT: &str = "a key is 32 random bytes in base64; openssl rand -base64 32 makes one";

/// Refuses a file that others can look into: what it protects may be known already.
fn read(path: &Path) -> Result<MasterKeys, Failure> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, file) = opened.map_err(|error| cannot("read", path, error))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & OTHERS != 0 {
        let error = anyhow!("others can look into the master key {} (mode {mode:03o})", path.display());
        return Err(Failure::usage(error, "chmod 600 the file; if somebody may have read it, skein vault rotate then"));
    }
    let most = FILE_BYTES_MAX as u64 + 1;
    let mut text = Zeroizing::new(String::with_capacity(capacity(metadata.len(), most)));
    file.take(most).read_to_string(&mut text).map_err(|error| cannot("read", path, error))?;
    if text.len() > FILE_BYTES_MAX {
        return Err(too_large(path));
    }
    parse(&text).ok_or_else(|| {
        let error = anyhow!("{} does not hold one key per line", path.display());
        Failure::usage(error, "put back the file from where it was kept; every secret is kept under the keys in it")
    })
}

/// Enough for the whole file, so that no copy of a part is left behind while reading.
fn capacity(length: u64, most: u64) -> usize {
    usize::try_from(length.min(most)).unwrap_or_default() + 1
}

/// A part of the keys would be lost if the file were read or written up to the limit.
fn too_large(path: &Path) -> Failure {
    let error = anyhow!("{} has more than {FILE_BYTES_MAX} bytes of master keys", path.display());
    Failure::usage(
        error,
        "remove keys that no database needs: skein doctor lists them, skein vault remove-keys removes them",
    )
}

fn parse(text: &str) -> Option<MasterKeys> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let keys: Option<Vec<_>> = lines.filter(|line| !line.is_empty()).map(parse_key).collect();
    keys.map(Zeroizing::new).filter(|keys| !keys.is_empty()).map(MasterKeys)
}

fn parse_key(text: &str) -> Option<[u8; KEY_BYTES]> {
    let text = Zeroizing::new(text.trim().replace('+', "-").replace('/', "_"));
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len()));
    BASE64.decode_vec(text.as_bytes(), &mut bytes).ok()?;
    bytes.as_slice().try_into().ok()
}

/// Complete or not there, and never in place of another.
fn make(path: &Path) -> io::Result<()> {
    // Two processes may make it at once: each writes a file of its own.
    let beside = beside(path, &to_hex(&draw()[..8]));
    let written = write_durably(&beside, &[*draw()]).and_then(|()| fs::hard_link(&beside, path));
    let removed = remove_if_there(&beside);
    match written {
        // Somebody else was first; theirs is the key.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.exists() => removed,
        written => written.and(removed).and_then(|()| sync_directory(path)),
    }
}

/// Holds the key file against other processes until it is dropped. The file that was locked may have been replaced while
/// this waited, so it is looked at again.
fn lock(path: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new().read(true).write(true).open(path).or_else(|_| File::open(path))?;
        file.lock()?;
        let (held, there) = (file.metadata()?, fs::metadata(path)?);
        if (held.dev(), held.ino()) == (there.dev(), there.ino()) {
            return Ok(file);
        }
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn draw() -> Zeroizing<[u8; KEY_BYTES]> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    getrandom::fill(&mut *key).expect("the operating system provides randomness");
    key
}

/// Where a file is written before it takes its place.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

fn write_durably(path: &Path, keys: &[[u8; KEY_BYTES]]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path)?;
    file.write_all(HEADING.as_bytes())?;
    for key in keys {
        let line = Zeroizing::new(BASE64.encode(key));
        file.write_all(line.as_bytes())?;
        file.write_all(b"\n")?;
    }
    file.sync_all()
}

fn sync_directory(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

fn cannot(doing: &str, path: &Path, error: io::Error) -> Failure {
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    let error = Error::new(error).context(format!("cannot {doing} the master key {}", path.display()));
    if is_missing && doing == "read" {
        return Failure::new(Exit::Failed, error, "skein init makes one; if there are secrets, put back the old file");
    }
    Failure::new(Exit::Unavailable, error, "check the permissions and the free space of its directory")
}

#[cfg(test)]
mod tests;
