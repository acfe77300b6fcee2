//! Short names of nodes inside their tree: 6 to 8 characters of the node's own id (decision G1).

use crate::digest::Digest;

/// Crockford's base 32, as ULIDs are spelled.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CHARS_MIN: usize = 6;
const CHARS_MAX: usize = 8;

/// The first name of a node that no other node of its tree has.
///
/// The beginning of a ULID is time, its end is chance: the first 6, 7, 8 characters, then the last 8, then windows of 8
/// moving left. Should all of them be taken, characters of the id's digest follow, so there is always a name.
pub fn local_id<E>(bare_ulid: &str, mut is_taken: impl FnMut(&str) -> Result<bool, E>) -> Result<String, E> {
    for name in windows(bare_ulid) {
        if !is_taken(name)? {
            return Ok(name.to_owned());
        }
    }
    let mut round = 0_u64;
    loop {
        let name = drawn_name(bare_ulid, round);
        if !is_taken(&name)? {
            return Ok(name);
        }
        round += 1;
    }
}

/// How a local id is looked up, whatever case it was typed in; `None` for what cannot be one.
pub fn lookup_form(typed: &str) -> Option<String> {
    let name = typed.to_ascii_uppercase();
    let is_name = (CHARS_MIN..=CHARS_MAX).contains(&name.len()) && name.bytes().all(|byte| ALPHABET.contains(&byte));
    is_name.then_some(name)
}

fn windows(ulid: &str) -> impl Iterator<Item = &str> {
    let beginnings = (CHARS_MIN..=CHARS_MAX).filter_map(|length| ulid.get(..length));
    let last = ulid.len().saturating_sub(CHARS_MAX);
    let from_the_end = (1..=last).rev().filter_map(|start| ulid.get(start..start + CHARS_MAX));
    beginnings.chain(from_the_end)
}

fn drawn_name(ulid: &str, round: u64) -> String {
    let digest = Digest::of(format!("{ulid} {round}").as_bytes());
    digest.0.iter().take(CHARS_MAX).map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    use super::*;

    const FIRST: &str = "01HQ3K4N7Y8M2P5R6T9W0X1Z2A";

    fn name(ulid: &str, taken: &[&str]) -> String {
        let Ok(name) = local_id(ulid, |name| Ok::<_, Infallible>(taken.contains(&name)));
        name
    }

    #[test]
    fn ag_local_001_the_first_six_characters_and_more_on_collision_holds() {
        assert_eq!(name(FIRST, &[]), "01HQ3K");
        assert_eq!(name("01HQ3K9B2C4D5E6F7G8H9J0K1L", &["01HQ3K"]), "01HQ3K9");
        assert_eq!(name(FIRST, &["01HQ3K", "01HQ3K4"]), "01HQ3K4N");
    }

    #[test]
    fn ag_local_001_a_taken_name_refuses() {
        assert_ne!(name(FIRST, &["01HQ3K"]), "01HQ3K");
    }

    #[test]
    fn ag_local_002_the_end_and_then_windows_moving_left_holds() {
        let beginnings = ["01HQ3K", "01HQ3K4", "01HQ3K4N"];
        assert_eq!(name(FIRST, &beginnings), "9W0X1Z2A");
        assert_eq!(name(FIRST, &[&beginnings[..], &["9W0X1Z2A"]].concat()), "T9W0X1Z2");
    }

    #[test]
    fn ag_local_002_names_shorter_than_six_or_longer_than_eight_refuses() {
        let mut taken = BTreeSet::new();
        for _ in 0..40 {
            let Ok(name) = local_id(FIRST, |name| Ok::<_, Infallible>(taken.contains(name)));
            assert!((6..=8).contains(&name.len()) && taken.insert(name));
        }
        for typed in ["01HQ3", "01HQ3K4N7", "01HQ3U", "01HQ3é", ""] {
            assert_eq!(lookup_form(typed), None, "{typed} was taken for a local id");
        }
    }

    #[test]
    fn ag_local_003_the_same_tree_gives_the_same_name_holds() {
        assert_eq!(name(FIRST, &["01HQ3K"]), name(FIRST, &["01HQ3K"]));
    }

    #[test]
    fn ag_local_003_a_question_that_fails_refuses() {
        assert_eq!(local_id(FIRST, |_| Err("no answer")), Err("no answer"));
    }

    #[test]
    fn ag_local_004_look_up_ignores_case_holds() {
        assert_eq!(lookup_form("01hq3k4").as_deref(), Some("01HQ3K4"));
    }

    #[test]
    fn ag_local_004_what_is_no_local_id_refuses() {
        assert_eq!(lookup_form("01HQ3K4N7Y8M2P5R6T9W0X1Z2A"), None);
    }
}
