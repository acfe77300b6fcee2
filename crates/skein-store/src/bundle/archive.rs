//! The zip file as it is read: known entries only, bounded sizes, digests compared while reading.
//!
//! Nothing is ever unpacked to a path, and no size that the file claims is believed.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use skein_core::Digest;
use zip::ZipArchive;
use zip::read::{ArchiveOffset, Config, ZipFile};
use zip::result::ZipError;

use super::end_record;
use super::manifest::{MANIFEST_BYTES_MAX, Manifest};
use super::{
    BLOBS, BadBundle, EXPANDED_BYTES_MAX, EXPANSION_MAX, ITEMS, LINE_BYTES_MAX, MANIFEST, Part, RECORDS, RELATIONS,
    SEALS, SECRETS, altered,
};
use crate::blobs::BLOB_BYTES_MAX;
use crate::error::{StoreError, is_full};

/// An open bundle. Cheap to clone; each clone reads at a place of its own.
#[derive(Clone)]
pub(crate) struct Archive {
    zip: ZipArchive<SharedFile>,
}

impl Archive {
    /// Opens a bundle and refuses what no bundle holds; reads its manifest. Takes up to a second, and memory for each entry.
    pub(crate) fn open(file: File) -> Result<(Self, Manifest), StoreError> {
        end_record::refuse_other_ends(&file)?;
        let (file, config) =
            (SharedFile { file: Arc::new(file), at: 0 }, Config { archive_offset: ArchiveOffset::Known(0) });
        let mut zip = ZipArchive::with_config(config, file).map_err(|error| not_a_zip(&error))?;
        if zip.has_duplicate_names() || zip.has_overlapping_entries().map_err(|error| not_a_zip(&error))? {
            return Err(BadBundle::NotABundle("its entries overlap".to_owned()).into());
        }
        for index in 0..zip.len() {
            let entry = zip.by_index_data(index).map_err(|error| not_a_zip(&error))?;
            let name = std::str::from_utf8(entry.name_raw()).ok().filter(|name| is_known(name));
            let Some(name) = name else {
                let shown: String = String::from_utf8_lossy(entry.name_raw()).chars().take(200).collect();
                return Err(BadBundle::UnknownEntry(shown).into());
            };
            refuse_expansion(name, entry.size(), entry.compressed_size())?;
        }
        let mut archive = Self { zip };
        let manifest = archive.manifest()?;
        Ok((archive, manifest))
    }

    fn manifest(&mut self) -> Result<Manifest, StoreError> {
        if self.zip.index_for_name(MANIFEST).is_none() {
            return Err(BadBundle::NotABundle("it has no manifest, so it was not finished".to_owned()).into());
        }
        let text = read_bounded(self.entry(MANIFEST)?, MANIFEST, MANIFEST_BYTES_MAX)?;
        Manifest::parse(&text)
    }

    fn entry(&mut self, name: &str) -> Result<ZipFile<'_, SharedFile>, StoreError> {
        self.zip.by_name(name).map_err(|error| match error {
            ZipError::FileNotFound => altered(name, "it is missing"),
            error => not_a_zip(&error),
        })
    }

    /// The lines of a part, compared with what the manifest says about it.
    pub(crate) fn lines(&mut self, name: &'static str, part: Part) -> Result<Lines<impl Read>, StoreError> {
        Ok(Lines::new(name, part, self.entry(name)?))
    }

    pub(crate) fn has_secrets(&self) -> bool {
        self.zip.index_for_name(SECRETS).is_some()
    }

    /// The values of secrets, sealed, when the manifest names them; an entry it does not name is refused.
    pub(crate) fn secrets(&mut self, manifest: &Manifest) -> Result<Option<String>, StoreError> {
        let Some(part) = manifest.secrets else {
            let refused = Err(BadBundle::UnknownEntry(SECRETS.to_owned()).into());
            return if self.has_secrets() { refused } else { Ok(None) };
        };
        let mut lines = self.lines(SECRETS, part)?;
        let text = lines.next()?.ok_or_else(|| altered(SECRETS, "it is empty"))?;
        match lines.next()? {
            None => Ok(Some(text)),
            Some(_) => Err(altered(SECRETS, "it has more than one line")),
        }
    }

    pub(crate) fn has_blob(&self, hash: Digest) -> bool {
        self.zip.index_for_name(&format!("{BLOBS}{hash}")).is_some()
    }

    pub(crate) fn blobs(&self) -> Vec<Digest> {
        let names = self.zip.file_names_raw().filter_map(|name| std::str::from_utf8(name).ok());
        names.filter_map(|name| name.strip_prefix(BLOBS)?.parse().ok()).collect()
    }

    /// Copies the bytes of an object, compared with the hash that is its name; says how many they are.
    pub(crate) fn copy_blob(&mut self, hash: Digest, out: impl Write) -> Result<u64, StoreError> {
        let name = format!("{BLOBS}{hash}");
        let mut bounded = self.entry(&name)?.take(BLOB_BYTES_MAX as u64 + 1);
        let mut hashed = Hashed { out, hasher: Sha256::new() };
        let size = io::copy(&mut bounded, &mut hashed).map_err(|error| match error {
            error if is_full(&error) => StoreError::DiskFull,
            error => altered(&name, error.to_string()),
        })?;
        if size > BLOB_BYTES_MAX as u64 {
            return Err(too_large(&name, BLOB_BYTES_MAX as u64));
        }
        let found = Digest(hashed.hasher.finalize().into());
        if found == hash { Ok(size) } else { Err(altered(&name, format!("its bytes have the hash {found}"))) }
    }
}

/// Hashes bytes on their way to `out`.
struct Hashed<W> {
    out: W,
    hasher: Sha256,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Exactly the names an export writes: there is no path to go astray on.
fn is_known(name: &str) -> bool {
    let is_blob = |hash: &str| hash.parse::<Digest>().is_ok_and(|digest| digest.to_string() == hash);
    [ITEMS, SEALS, RECORDS, RELATIONS, SECRETS, MANIFEST].contains(&name)
        || name.strip_prefix(BLOBS).is_some_and(is_blob)
}

fn refuse_expansion(name: &str, size: u64, compressed: u64) -> Result<(), StoreError> {
    if size <= EXPANDED_BYTES_MAX || size <= compressed.saturating_mul(EXPANSION_MAX) {
        return Ok(());
    }
    let problem = format!("{compressed} bytes would become {size}");
    Err(BadBundle::TooLarge { part: name.to_owned(), problem }.into())
}

fn read_bounded(entry: impl Read, name: &str, limit: u64) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    entry.take(limit + 1).read_to_end(&mut bytes).map_err(|error| altered(name, error.to_string()))?;
    if bytes.len() as u64 <= limit { Ok(bytes) } else { Err(too_large(name, limit)) }
}

fn too_large(name: &str, limit: u64) -> StoreError {
    BadBundle::TooLarge { part: name.to_owned(), problem: format!("the limit is {limit} bytes") }.into()
}

/// Lines of a part, one at a time. The last call compares the whole with its digest.
pub(crate) struct Lines<R> {
    name: &'static str,
    reader: BufReader<R>,
    expected: Part,
    hasher: Sha256,
    read: u64,
    bytes: u64,
    is_finished: bool,
}

impl<R: Read> Lines<R> {
    fn new(name: &'static str, expected: Part, reader: R) -> Self {
        Self {
            name,
            reader: BufReader::new(reader),
            expected,
            hasher: Sha256::new(),
            read: 0,
            bytes: 0,
            is_finished: false,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The next line, or `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<String>, StoreError> {
        if self.is_finished {
            return Ok(None);
        }
        let mut line = Vec::new();
        let mut bounded = (&mut self.reader).take(LINE_BYTES_MAX as u64 + 1);
        let read = bounded.read_until(b'\n', &mut line).map_err(|error| altered(self.name, error.to_string()))?;
        if read > LINE_BYTES_MAX {
            let problem = format!("a line has more than {LINE_BYTES_MAX} bytes");
            return Err(BadBundle::TooLarge { part: self.name.to_owned(), problem }.into());
        }
        if read == 0 {
            return self.finish().map(|()| None);
        }
        self.hasher.update(&line);
        self.bytes += read as u64;
        self.read += 1;
        if self.bytes > self.expected.bytes {
            return Err(altered(self.name, "it is longer than its manifest says"));
        }
        let cut_off = || altered(self.name, "its last line is cut off");
        line.pop().filter(|end| *end == b'\n').ok_or_else(cut_off)?;
        String::from_utf8(line).map(Some).map_err(|_| altered(self.name, "a line is not text"))
    }

    fn finish(&mut self) -> Result<(), StoreError> {
        let sha256 = Digest(self.hasher.finalize_reset().into());
        let found = Part { lines: self.read, bytes: self.bytes, sha256 };
        if found == self.expected {
            self.is_finished = true;
            return Ok(());
        }
        let problem = format!("its manifest says {} lines with digest {}", self.expected.lines, self.expected.sha256);
        Err(altered(self.name, problem))
    }
}

/// One file that several readers read, each at its own place.
#[derive(Clone)]
struct SharedFile {
    file: Arc<File>,
    at: u64,
}

impl Read for SharedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for SharedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.file.metadata()?.len().checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

fn not_a_zip(error: &ZipError) -> StoreError {
    BadBundle::NotABundle(error.to_string()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_an_export_writes_are_known() {
        let hash = Digest::of(b"x").to_string();
        assert!(["items.jsonl", "manifest.json", &format!("blobs/{hash}")].iter().all(|name| is_known(name)));
        let upper = format!("blobs/{}", hash.to_uppercase());
        let deeper = format!("blobs/../blobs/{hash}");
        let inside = format!("blobs/{hash}/x");
        for name in
            ["", "items.jsonl/", "/items.jsonl", "../items.jsonl", "blobs/", "blobs\\x", &upper, &deeper, &inside]
        {
            assert!(!is_known(name), "{name}");
        }
    }

    #[test]
    fn what_expands_beyond_measure_is_refused() {
        assert!(refuse_expansion("x", EXPANDED_BYTES_MAX, 1).is_ok());
        assert!(refuse_expansion("x", EXPANDED_BYTES_MAX + 1, EXPANDED_BYTES_MAX / 20).is_ok());
        assert!(refuse_expansion("x", EXPANDED_BYTES_MAX + 1, 1 << 20).is_err());
    }

    #[test]
    fn lines_are_bounded_and_compared_with_their_digest() {
        let part = |bytes: &[u8], lines| Part { lines, bytes: bytes.len() as u64, sha256: Digest::of(bytes) };
        let read = |bytes: &'static [u8], part| {
            let mut lines = Lines::new(ITEMS, part, bytes);
            let mut found = Vec::new();
            while let Some(line) = lines.next()? {
                found.push(line);
            }
            Ok::<_, StoreError>(found)
        };
        assert_eq!(read(b"a\n\nb\n", part(b"a\n\nb\n", 3)).unwrap(), ["a", "", "b"]);
        assert!(read(b"a\n", part(b"b\n", 1)).is_err());
        assert!(read(b"a\nb\n", part(b"a\n", 1)).is_err());
        assert!(read(b"a\n", part(b"a\nb\n", 2)).is_err());
        assert!(read(b"a", part(b"a", 1)).is_err());
        let endless = Part { bytes: u64::MAX, ..part(b"", 0) };
        let outcome = Lines::new(ITEMS, endless, io::repeat(b'x')).next();
        assert!(matches!(outcome, Err(StoreError::Bundle(BadBundle::TooLarge { .. }))));
    }
}
