//! Holds the code to the words of `docs/glossary.md`: reads its lists of banned words and finds where one is used.

use std::collections::BTreeMap;

use crate::refuse;
use crate::repository::{Source, files, read, rust_sources};
use crate::rust_text::{code_only, item_name, numbered};

const GLOSSARY: &str = "docs/glossary.md";
const TYPE_KEYWORDS: [&str; 4] = ["struct", "enum", "trait", "type"];

/// The words of a fenced list, each with its replacement.
fn banned(list: &str) -> BTreeMap<String, String> {
    let text = read(GLOSSARY).expect("the glossary is committed");
    let opening = format!("```{list}\n");
    let inside =
        text.split_once(&opening).and_then(|(_, rest)| rest.split_once("```")).map_or("", |(inside, _)| inside);
    let word = |line: &str| {
        let (word, instead) = line.split_once(" -> ").unwrap_or((line, "another word"));
        (word.trim().to_owned(), instead.trim().to_owned())
    };
    let found: BTreeMap<_, _> = inside.lines().filter(|line| !line.trim().is_empty()).map(word).collect();
    assert!(!found.is_empty(), "{GLOSSARY} has the list `{list}`");
    found
}

/// Sources that ship, without what is generated.
fn shipped() -> Vec<Source> {
    rust_sources("crates/").into_iter().filter(|source| source.is_in("/src/")).collect()
}

fn type_name(line: &str) -> Option<&str> {
    TYPE_KEYWORDS.iter().find_map(|keyword| item_name(line, keyword))
}

#[test]
fn modules_carry_no_banned_names() {
    let banned = banned("banned-modules");
    let modules = files().into_iter().filter(|path| path.starts_with("crates/") && path.contains("/src/"));
    let places = modules.filter_map(|path| {
        let (_, inside) = path.split_once("/src/")?;
        let parts = inside.split('/').map(|part| part.strip_suffix(".rs").unwrap_or(part));
        let instead = parts.into_iter().find_map(|part| banned.get(part))?;
        Some(format!("{path}: {instead}"))
    });
    refuse(places, "name the module by the word the glossary gives");
}

#[test]
fn types_carry_no_banned_names() {
    let banned = banned("banned-types");
    let mut places = Vec::new();
    for source in shipped() {
        for (line, text) in numbered(&code_only(&source.text)) {
            if let Some(instead) = type_name(text).and_then(|name| banned.get(name)) {
                places.push(format!("{}:{line}: {instead}", source.path));
            }
        }
    }
    refuse(places, "name the type by the word the glossary gives");
}

#[test]
fn public_type_names_are_unique_in_their_crate() {
    let mut named: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for source in shipped() {
        let Some((of, _)) = source.path.split_once("/src/") else { continue };
        for (line, text) in numbered(&code_only(&source.text)) {
            // What is declared inside of a function or a macro is nobody else's to name.
            let Some(name) = type_name(text).filter(|_| text.starts_with("pub ")) else { continue };
            let place = format!("{}:{line}", source.path);
            named.entry((of.to_owned(), name.to_owned())).or_default().push(place);
        }
    }
    let places = named
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|((_, name), places)| format!("{name}: {}", places.join(", ")));
    refuse(places, "a public type name means one thing in its crate: rename all but one");
}

#[test]
fn first_lines_of_modules_begin_with_no_banned_word() {
    let banned = banned("banned-openings");
    let mut places = Vec::new();
    for source in shipped() {
        let Some(first) = source.text.lines().next().and_then(|line| line.strip_prefix("//! ")) else { continue };
        let begins =
            |word: &&String| first.strip_prefix(word.as_str()).is_some_and(|rest| rest.starts_with([' ', ',']));
        if banned.keys().any(|word| begins(&word)) {
            places.push(format!("{}:1", source.path));
        }
    }
    refuse(places, "say what the module does");
}

#[test]
fn the_api_uses_no_banned_names() {
    let text = read("openapi/skein.json").expect("the API document is committed");
    let places = banned("banned-api").into_iter().flat_map(|(word, instead)| {
        let used = if word.starts_with('/') { word.clone() } else { format!("\"{word}\"") };
        let lines = numbered(&text).filter(|(_, line)| line.contains(&used)).map(|(line, _)| line);
        lines.map(|line| format!("openapi/skein.json:{line}: {word} is {instead}")).collect::<Vec<_>>()
    });
    refuse(places, "name it by the word the glossary gives");
}

#[test]
fn a_list_is_read_word_by_word_with_its_replacement() {
    let openings = banned("banned-openings");
    assert_eq!(openings.get("Whoever").map(String::as_str), Some("another word"));
    assert!(banned("banned-modules").contains_key("footing"));
    assert_eq!(type_name("pub struct ItemRow {"), Some("ItemRow"));
}
