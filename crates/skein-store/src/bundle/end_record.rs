//! Reads the end record of a zip file: how many entries it announces, and where its directory lies.
//!
//! The zip library indexes every entry before anything else can be refused, and looks further for another end record when it
//! dislikes the first. So the limits hold here, before the library sees the file, and everything the library would dislike about
//! an end record is refused here: then it reads this one, and the directory this one names.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt as _;

use super::{BLOBS, BadBundle};
use crate::error::StoreError;

/// Most entries of a bundle. Over HTTP a bundle has at most 8 GiB, and so many attachments fill it when one has 64 KiB on
/// average. The index of so many entries takes about 50 MB of memory while the bundle is imported.
pub const ENTRIES_MAX: u64 = 128 << 10;
/// Largest directory, in bytes: 256 for each entry. An export writes 144 at most.
const DIRECTORY_BYTES_MAX: u64 = ENTRIES_MAX * 256;

/// Bytes of the last record, which ends the file: a bundle has no comment.
const END_BYTES: usize = 22;
/// Bytes of the record before it that points to the record with 64-bit numbers.
const LOCATOR_BYTES: usize = 20;
/// Bytes of the record with 64-bit numbers.
const END64_BYTES: usize = 56;
/// Bytes of an entry of the directory without its name.
const ENTRY_BYTES_MIN: u64 = 46;

/// The directory that an end record announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Directory {
    entries: u64,
    bytes: u64,
    start: u64,
    /// Where the end record begins that announces it.
    end: u64,
}

/// Refuses a file whose end is not that of a bundle, or announces more than a bundle holds.
pub(super) fn refuse_other_ends(file: &File) -> Result<(), StoreError> {
    let directory = announced(file)?;
    if directory.entries > ENTRIES_MAX {
        let problem = format!("it has {} entries; the limit is {ENTRIES_MAX}", directory.entries);
        return Err(too_many(&problem));
    }
    if directory.bytes > DIRECTORY_BYTES_MAX {
        let problem = format!("its directory has {} bytes; the limit is {DIRECTORY_BYTES_MAX}", directory.bytes);
        return Err(too_many(&problem));
    }
    let is_adjacent = directory.start.checked_add(directory.bytes) == Some(directory.end);
    if !is_adjacent || directory.bytes < directory.entries * ENTRY_BYTES_MIN {
        return Err(malformed("its directory is not where its end record says"));
    }
    if directory.entries > 0 && &read::<4>(file, directory.start)? != b"PK\x01\x02" {
        return Err(malformed("its directory does not begin with an entry"));
    }
    Ok(())
}

fn announced(file: &File) -> Result<Directory, StoreError> {
    let length = file.metadata().map_err(|error| StoreError::of_file("the bundle cannot be read", &error))?.len();
    let at = before(length, END_BYTES)?;
    let record: [u8; END_BYTES] = read(file, at)?;
    let (disks, comment) = (number(&record[4..8]), number(&record[20..22]));
    let (on_disk, entries) = (number(&record[8..10]), number(&record[10..12]));
    if !record.starts_with(b"PK\x05\x06") || comment != 0 {
        return Err(malformed("it does not end with the end record of a zip file"));
    }
    let (bytes, start) = (number(&record[12..16]), number(&record[16..20]));
    if entries == u64::from(u16::MAX) || [bytes, start].contains(&u64::from(u32::MAX)) {
        return announced64(file, at);
    }
    refuse_several_files(disks, on_disk, entries)?;
    Ok(Directory { entries, bytes, start, end: at })
}

/// What is announced where the numbers are too large for the last record, which stands at `end`.
fn announced64(file: &File, end: u64) -> Result<Directory, StoreError> {
    let locator_at = before(end, LOCATOR_BYTES)?;
    let at = before(locator_at, END64_BYTES)?;
    let locator: [u8; LOCATOR_BYTES] = read(file, locator_at)?;
    let record: [u8; END64_BYTES] = read(file, at)?;
    let is_whole = locator.starts_with(b"PK\x06\x07") && number(&locator[8..16]) == at;
    // The record says how many bytes follow its signature and that number.
    if !is_whole || !record.starts_with(b"PK\x06\x06") || number(&record[4..12]) != END64_BYTES as u64 - 12 {
        return Err(malformed("its end record with 64-bit numbers is not whole"));
    }
    let (on_disk, entries) = (number(&record[24..32]), number(&record[32..40]));
    let disks = number(&locator[4..8]) | number(&record[16..24]) | number(&locator[16..20]).saturating_sub(1);
    refuse_several_files(disks, on_disk, entries)?;
    Ok(Directory { entries, bytes: number(&record[40..48]), start: number(&record[48..56]), end: at })
}

fn refuse_several_files(disks: u64, on_disk: u64, entries: u64) -> Result<(), StoreError> {
    if disks == 0 && on_disk == entries { Ok(()) } else { Err(malformed("it is one of several files")) }
}

fn before(end: u64, bytes: usize) -> Result<u64, StoreError> {
    end.checked_sub(bytes as u64).ok_or_else(|| malformed("it is too short for a zip file"))
}

fn read<const BYTES: usize>(file: &File, at: u64) -> Result<[u8; BYTES], StoreError> {
    let mut bytes = [0; BYTES];
    match file.read_exact_at(&mut bytes, at) {
        Ok(()) => Ok(bytes),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(malformed("it is too short for a zip file")),
        Err(error) => Err(StoreError::of_file("the bundle cannot be read", &error)),
    }
}

/// Up to eight bytes as a number, the lowest first.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn malformed(problem: &str) -> StoreError {
    BadBundle::NotABundle(problem.to_owned()).into()
}

fn too_many(problem: &str) -> StoreError {
    let problem = format!("{problem}; export its conversations one by one and import those bundles");
    BadBundle::TooLarge { part: BLOBS.to_owned(), problem }.into()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A directory of so many entries behind one local header, with end records of either size.
    fn announcing(entries: u64, is_wide: bool) -> Vec<u8> {
        let mut zip = vec![b'x'; 30];
        let start = zip.len() as u64;
        for _ in 0..entries {
            zip.extend(b"PK\x01\x02".iter().chain(&[0; 42]));
        }
        let bytes = zip.len() as u64 - start;
        if is_wide {
            end64(&mut zip, [entries, bytes, start]);
        } else {
            end32(&mut zip, [entries, bytes, start]);
        }
        zip
    }

    fn end32(zip: &mut Vec<u8>, [entries, bytes, start]: [u64; 3]) {
        zip.extend(b"PK\x05\x06\0\0\0\0");
        for (number, length) in [(entries, 2), (entries, 2), (bytes, 4), (start, 4), (0, 2)] {
            zip.extend(&number.to_le_bytes()[..length]);
        }
    }

    fn end64(zip: &mut Vec<u8>, [entries, bytes, start]: [u64; 3]) {
        let at = zip.len() as u64;
        zip.extend(b"PK\x06\x06");
        for (number, length) in [(44, 8), (45, 2), (45, 2), (0, 8), (entries, 8), (entries, 8), (bytes, 8), (start, 8)]
        {
            zip.extend(&u64::to_le_bytes(number)[..length]);
        }
        zip.extend(b"PK\x06\x07\0\0\0\0");
        zip.extend(at.to_le_bytes().iter().chain(&1_u32.to_le_bytes()));
        end32(zip, [u64::from(u16::MAX), u64::from(u32::MAX), u64::from(u32::MAX)]);
    }

    fn judged(zip: &[u8]) -> Result<(), BadBundle> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(zip).unwrap();
        refuse_other_ends(&file).map_err(|error| match error {
            StoreError::Bundle(bad) => bad,
            other => panic!("{other}"),
        })
    }

    fn is_malformed(zip: &[u8]) {
        assert!(matches!(judged(zip), Err(BadBundle::NotABundle(_))), "{:?}", judged(zip));
    }

    #[test]
    fn as_many_entries_as_a_bundle_may_have_pass_and_one_more_is_refused() {
        assert_eq!(judged(&announcing(0, false)), Ok(()));
        assert_eq!(judged(&announcing(7, false)), Ok(()));
        assert_eq!(judged(&announcing(7, true)), Ok(()));
        assert_eq!(judged(&announcing(ENTRIES_MAX, true)), Ok(()));
        let refused = judged(&announcing(ENTRIES_MAX + 1, true)).unwrap_err();
        assert!(matches!(&refused, BadBundle::TooLarge { problem, .. } if problem.contains("one by one")), "{refused}");
    }

    #[test]
    fn a_directory_of_more_bytes_is_refused() {
        let mut zip = announcing(1, false);
        zip.truncate(zip.len() - END_BYTES);
        zip.extend(vec![0; usize::try_from(DIRECTORY_BYTES_MAX).unwrap()]);
        end32(&mut zip, [1, DIRECTORY_BYTES_MAX + 46, 30]);
        assert!(matches!(judged(&zip), Err(BadBundle::TooLarge { .. })));
    }

    #[test]
    fn an_end_after_which_the_library_would_look_for_another_is_refused() {
        for is_wide in [false, true] {
            let good = announcing(7, is_wide);
            let last = good.len();
            is_malformed(&good[..last - 1]);
            is_malformed(&[&good[..], b"x"].concat());
            is_malformed(&[b"x", &good[..]].concat());
            let records = if is_wide { END64_BYTES + LOCATOR_BYTES + END_BYTES } else { END_BYTES };
            let changed = |place: usize, by: u8| {
                let mut zip = good.clone();
                zip[place] ^= by;
                zip
            };
            // The signature of the first entry, and every byte of the end records that says something.
            is_malformed(&changed(30, 1));
            let versions = last - records + 12..last - records + 16;
            for place in (last - records..last).filter(|place| !is_wide || !versions.contains(place)) {
                let outcome = judged(&changed(place, 0x40));
                let is_unused = is_wide && place >= last - END_BYTES + 4 && place < last - 2;
                assert!(is_unused || outcome.is_err(), "{is_wide} {place}: {outcome:?}");
            }
        }
    }
}
