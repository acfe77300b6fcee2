//! Keeps the repository tidy: rules have tests, dependencies point inwards, documents name real paths.
//!
//! Reads text only and refuses to know what the crates do, so it stays fast and needs no database.
//! A failure lists every offending place as `file:line` and says what to do. The checks come first,
//! the readers they share below and in the modules; start at [`done_rules_have_tests`].

mod glossary;
mod repository;
mod rust_text;

use std::collections::BTreeSet;

use repository::{Source, files, has_extension, ignore_patterns, is_ignored, read, root, rust_sources};
use rust_text::{Function, code_only, functions, imports, is_vague, item_name, mentions, names_absolutely, numbered};

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 70;
const LOCKED_PACKAGES_MAX: usize = 585;

const RULES: &str = "docs/rules.md";
const RULE_FAMILIES: [&str; 4] = ["br", "mg", "ag", "tr"];
const RULE_STATES: [&str; 2] = ["planned", "done"];

/// From the inside out: a crate uses those of earlier layers only.
const LAYERS: [&[&str]; 5] = [
    &["skein-core"],
    &["skein-store", "skein-recall", "skein-connect"],
    &["skein-engine"],
    &["skein-server"],
    &["skein-cli", "skein-bench"],
];
/// Stands beside the layers: others use it as a dev-dependency alone.
const TESTKIT: &str = "skein-testkit";
const TESTKIT_USES: [&str; 2] = ["skein-core", "skein-store"];

const IMPURE: [&str; 9] = [
    "std::fs",
    "std::net",
    "std::time::SystemTime",
    "std::time::Instant",
    "std::thread",
    "std::env",
    "getrandom",
    "rand::",
    "tokio",
];

const REQUIRED_DOCUMENTS: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
const PATH_STARTS: [&str; 7] = ["crates/", "docs/", "scripts/", "bench/", "web/", "openapi/", ".ci/"];
const ROOT_FILES: [&str; 12] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "STYLE.md",
    "Makefile",
    "Cargo.toml",
    "Cargo.lock",
    "clippy.toml",
    "deny.toml",
    "rustfmt.toml",
    ".gitignore",
];

const VAGUE_NAMES: [&str; 8] = ["util", "utils", "helper", "helpers", "common", "misc", "manager", "info"];
const BANNED_PACKAGES: [&str; 4] = ["aws-lc-sys", "openssl-sys", "bindgen", "cmake"];

// Written in pieces, so that this file does not offend against itself.
const UNFINISHED: [&str; 5] = [
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("#[", "ignore"),
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
];
const MACHINE_PATHS: [&str; 3] = [concat!("/work", "/main"), concat!("/work", "/shared"), concat!("/ro", "ot/")];

// Rules and their tests

#[test]
fn done_rules_have_tests() {
    let tests = rule_tests();
    let mut places = Vec::new();
    for rule in rules().iter().filter(|rule| rule.state() == "done") {
        let stem = rule.id().to_lowercase().replace('-', "_");
        for side in ["_holds", "_refuses"] {
            let proven = tests.iter().any(|test| test.rule == rule.id() && test.name.contains(side));
            if !proven {
                places.push(format!("{RULES}:{} no test {stem}_…{side}", rule.line));
            }
        }
    }
    refuse(places, "write the missing tests, or set the rule's state back to planned");
}

#[test]
fn tests_name_known_rules() {
    let rules = rules();
    let known: BTreeSet<&str> = rules.iter().map(Row::id).collect();
    let places = rule_tests()
        .into_iter()
        .filter(|test| !known.contains(test.rule.as_str()))
        .map(|test| format!("{} {} names {}", test.place, test.name, test.rule));
    refuse(places, "correct the number in the test's name, or list the rule in docs/rules.md");
}

#[test]
fn rules_are_listed_once_and_whole() {
    let mut seen = BTreeSet::new();
    let mut places = Vec::new();
    for rule in rules() {
        if rule.cells.len() != 5 || rule.cells.iter().any(String::is_empty) {
            places.push(format!("{RULES}:{} {} needs five cells", rule.line, rule.id()));
        } else if !RULE_STATES.contains(&rule.state()) {
            places.push(format!("{RULES}:{} state {:?}", rule.line, rule.state()));
        }
        if !seen.insert(rule.id().to_owned()) {
            places.push(format!("{RULES}:{} {} again", rule.line, rule.id()));
        }
    }
    assert!(!seen.is_empty(), "{RULES} lists no rules; restore its tables");
    refuse(places, "give each rule one row: id, meaning, decision, enforced in, planned or done");
}

// Crates

#[test]
fn dependency_edges_point_inwards() {
    let mut places = Vec::new();
    for (name, manifest) in manifests() {
        if name != TESTKIT && layer(&name).is_none() {
            places.push(format!("{}:1 {name} has no place in LAYERS", manifest.path));
        }
        for (line, used) in dependencies(&manifest.text) {
            if !may_use(&name, &used) {
                places.push(format!("{}:{line} {name} uses {used}", manifest.path));
            }
        }
    }
    refuse(places, "move the code to the crate it belongs to; testkit is a dev-dependency only");
}

#[test]
fn core_is_pure() {
    let mut places = BTreeSet::new();
    for source in rust_sources("crates/skein-core/src/") {
        let imports = imports(&source.text);
        let imports = imports.iter().map(|(line, path)| (*line, path.as_str()));
        for (line, text) in numbered(&source.text).chain(imports) {
            for impure in IMPURE.iter().filter(|impure| mentions(text, impure)) {
                places.insert(format!("{}:{line} {impure}", source.path));
            }
        }
    }
    refuse(places, "take the value as an argument, or return an effect for the engine to run");
}

#[test]
fn locked_packages_are_counted() {
    let lock = read("Cargo.lock").expect("Cargo.lock is committed");
    let count = lock.lines().filter(|line| *line == "[[package]]").count();
    assert!(
        count <= LOCKED_PACKAGES_MAX,
        "Cargo.lock:1 holds {count} packages, {LOCKED_PACKAGES_MAX} are allowed: drop a \
         dependency or a feature, or raise LOCKED_PACKAGES_MAX and say why in the commit"
    );
    let places = numbered(&lock)
        .filter_map(|(line, text)| Some((line, text.strip_prefix("name = ")?.trim_matches('"'))))
        .filter(|(_, name)| BANNED_PACKAGES.contains(name))
        .map(|(line, name)| format!("Cargo.lock:{line} {name}"));
    refuse(places, "choose features that need no C toolchain; `cargo tree -i` shows who asks");
}

// Files

#[test]
fn every_module_has_a_doc() {
    let places = rust_sources("crates/")
        .into_iter()
        .filter(|source| source.is_in("/src/") || source.is_in("/tests/"))
        .filter(|source| !source.text.starts_with("//!"))
        .map(|source| format!("{}:1", source.path));
    refuse(places, "begin the file with `//!`: why it exists, what it refuses to know");
}

#[test]
fn files_and_functions_stay_short() {
    let mut places = Vec::new();
    for source in rust_sources("crates/") {
        let lines = source.text.lines().count();
        if source.is_in("/src/") && lines > FILE_LINES_MAX {
            places.push(format!("{}:{FILE_LINES_MAX} file of {lines} lines", source.path));
        }
        for function in functions(&source.text) {
            if function.lines > FUNCTION_LINES_MAX {
                let Function { name, line, lines } = function;
                places.push(format!("{}:{line} {name} has {lines} lines", source.path));
            }
        }
    }
    refuse(places, "split by meaning: files up to 600 lines, functions up to 70");
}

#[test]
fn no_vague_names() {
    let mut places = Vec::new();
    for path in files().into_iter().filter(|path| path.starts_with("crates/")) {
        let mut names = path.split('/').filter_map(|part| part.split('.').next());
        if names.any(is_vague) {
            places.push(format!("{path}:1"));
        }
    }
    for source in rust_sources("crates/") {
        for (line, text) in numbered(&code_only(&source.text)) {
            if let Some(name) = item_name(text, "mod").filter(|name| is_vague(name)) {
                places.push(format!("{}:{line} mod {name}", source.path));
            }
        }
    }
    refuse(places, "name the thing it holds; if it has no name, it is not a module");
}

#[test]
fn no_unfinished_code() {
    let mut places = Vec::new();
    for source in rust_sources("crates/") {
        for (line, text) in numbered(&source.text) {
            for needle in UNFINISHED.iter().filter(|needle| mentions(text, needle)) {
                places.push(format!("{}:{line} {needle}", source.path));
            }
        }
    }
    refuse(places, "finish it or take it out; plans belong in docs/rules.md as planned rules");
}

// Documents

#[test]
fn paths_named_in_documents_exist() {
    let unbuilt = ignore_patterns();
    let mut places = Vec::new();
    for document in documents() {
        let Some(text) = read(&document) else {
            places.push(format!("{document}:1 is missing"));
            continue;
        };
        for (line, path) in named_paths(&text) {
            if !root().join(&path).exists() && !is_ignored(&path, &unbuilt) {
                places.push(format!("{document}:{line} {path}"));
            }
        }
    }
    refuse(places, "write the missing document, or correct the path to one that exists");
}

#[test]
fn the_project_speaks_of_itself_alone() {
    let mut places = Vec::new();
    for source in files().into_iter().filter_map(Source::open) {
        for (line, text) in numbered(&source.text) {
            for path in MACHINE_PATHS.iter().filter(|path| names_absolutely(text, path)) {
                places.push(format!("{}:{line} {path}", source.path));
            }
        }
    }
    refuse(places, "name files relative to the repository; other machines have other folders");
}

// The readers themselves

#[test]
fn rule_ids_are_read_from_function_names() {
    let check = |name, rule: Option<&str>| assert_eq!(rule_named_by(name).as_deref(), rule);
    check("br_idemp_004_refuses_other_payload", Some("BR-IDEMP-004"));
    check("br_conv_001a_holds", Some("BR-CONV-001A"));
    check("br_turn_episode_001_holds", Some("BR-TURN-EPISODE-001"));
    check("tr_004_refuses_negative_latency", Some("TR-004"));
    check("br_idemp_key_is_required", None);
    check("transfers_001_things", None);
}

#[test]
fn functions_are_measured_past_braces_in_text() {
    let text = "\
pub(crate) fn first<'a>(x: &'a [u8; 2]) -> char {
    let _ = (\"}\", r#\"}\"}\"#, '}', '\\''); // }
    /* } */ '{'
}
trait Second {
    fn third(&self, x: [u8; 4]);
}
";
    let measured: Vec<(String, usize, usize)> =
        functions(text).into_iter().map(|f| (f.name, f.line, f.lines)).collect();
    assert_eq!(measured, [("first".to_owned(), 1, 4), ("third".to_owned(), 6, 1)]);
}

#[test]
fn folded_imports_are_() {
    let text = "use std::{\n    fmt,\n    time::{Duration, Instant},\n};\n";
    let paths = ["std::fmt", "std::time::Duration", "std::time::Instant"];
    assert_eq!(imports(text), paths.map(|path| (1, path.to_owned())));
}

#[test]
fn names_are_matched_whole() {
    assert!(mentions("let x = rand::random();", "rand::"));
    assert!(!mentions("Operand::Left", "rand::"));
    assert!(!mentions("std::thread_local!", "std::thread"));
    assert!(names_absolutely("cd /srv/skein", "/srv/"));
    assert!(!names_absolutely("GET /api/srv/7", "/srv/"));
}

#[test]
fn dev_dependencies_make_no_edge() {
    let manifest = "[dependencies]\nskein-core.workspace = true\n[dependencies.skein-store]\n\
                    path = \"x\"\n[dev-dependencies]\nskein-testkit.workspace = true\n";
    let expected = [(2, "skein-core".to_owned()), (3, "skein-store".to_owned())];
    assert_eq!(dependencies(manifest), expected);
}

#[test]
fn edges_are_judged_by_layer() {
    assert!(may_use("skein-cli", "skein-core") && may_use("skein-testkit", "skein-store"));
    assert!(!may_use("skein-store", "skein-recall") && !may_use("skein-core", "skein-store"));
    assert!(!may_use("skein-engine", "skein-testkit"));
}

#[test]
fn paths_are_read_from_documents() {
    let text = "See `docs/rules.md`, `crates/x/src/lib.rs:12` and `cargo run` in `crates/*/src`.\n\
                ```\n`docs/unread.md`\n```\n";
    let expected = [(1, "docs/rules.md".to_owned()), (1, "crates/x/src/lib.rs".to_owned())];
    assert_eq!(named_paths(text), expected);
}

/// Fails with every place and the advice, unless there are none.
fn refuse(places: impl IntoIterator<Item = String>, advice: &str) {
    let places: Vec<String> = places.into_iter().collect();
    assert!(places.is_empty(), "{} to mend: {advice}\n  {}", places.len(), places.join("\n  "));
}

// Rules

/// One row of the tables in `docs/rules.md`.
struct Row {
    line: usize,
    cells: Vec<String>,
}

impl Row {
    fn id(&self) -> &str {
        &self.cells[0]
    }

    fn state(&self) -> &str {
        self.cells.last().map_or("", String::as_str)
    }
}

fn rules() -> Vec<Row> {
    let text = read(RULES).expect("docs/rules.md is committed");
    numbered(&text).filter_map(|(line, text)| rule_row(line, text)).collect()
}

fn rule_row(line: usize, text: &str) -> Option<Row> {
    let inner = text.trim().strip_prefix('|')?.strip_suffix('|')?;
    let cells: Vec<String> = inner.split('|').map(|cell| cell.trim().to_owned()).collect();
    let (family, _) = cells[0].split_once('-')?;
    RULE_FAMILIES.contains(&family.to_lowercase().as_str()).then_some(Row { line, cells })
}

struct RuleTest {
    place: String,
    name: String,
    rule: String,
}

fn rule_tests() -> Vec<RuleTest> {
    let mut tests = Vec::new();
    for source in rust_sources("crates/") {
        for (line, text) in numbered(&code_only(&source.text)) {
            let Some(name) = item_name(text, "fn") else { continue };
            if let Some(rule) = rule_named_by(name) {
                let place = format!("{}:{line}", source.path);
                tests.push(RuleTest { place, name: name.to_owned(), rule });
            }
        }
    }
    tests
}

/// `br_turn_episode_001_holds` names `BR-TURN-EPISODE-001`: family, concept, three digits.
fn rule_named_by(function: &str) -> Option<String> {
    let mut words = function.split('_');
    let family = words.next().filter(|word| RULE_FAMILIES.contains(word))?;
    let mut id = family.to_uppercase();
    for word in words {
        id = format!("{id}-{}", word.to_uppercase());
        if is_rule_number(word) {
            return Some(id);
        }
        if word.is_empty() || !word.chars().all(|c| c.is_ascii_lowercase()) {
            return None;
        }
    }
    None
}

fn is_rule_number(word: &str) -> bool {
    let digits = word.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(word);
    digits.len() == 3 && digits.chars().all(|c| c.is_ascii_digit())
}

// Manifests

fn manifests() -> Vec<(String, Source)> {
    let crates = files().into_iter().filter(|path| path.starts_with("crates/"));
    let manifests = crates.filter_map(|path| {
        let name = path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?.to_owned();
        Some((name, Source::open(path)?))
    });
    manifests.collect()
}

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&name))
}

fn may_use(name: &str, used: &str) -> bool {
    match (layer(name), layer(used)) {
        (Some(outer), Some(inner)) => inner < outer,
        _ => name == TESTKIT && TESTKIT_USES.contains(&used),
    }
}

/// Our crates named in the sections that ship, with their lines.
fn dependencies(manifest: &str) -> Vec<(usize, String)> {
    let mut used = Vec::new();
    let mut section = "";
    for (line, text) in numbered(manifest) {
        let text = text.split('#').next().unwrap_or_default();
        if text.starts_with('[') {
            section = text;
        }
        if !section.contains("dependencies") || section.contains("dev-dependencies") {
            continue;
        }
        let mut names = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        if let Some(name) = names.find(|name| name.starts_with("skein-")) {
            used.push((line, name.to_owned()));
        }
    }
    used
}

// Documents

fn documents() -> Vec<String> {
    let required = REQUIRED_DOCUMENTS.map(str::to_owned);
    let docs = files().into_iter().filter(|p| p.starts_with("docs/") && has_extension(p, "md"));
    required.into_iter().chain(docs).collect()
}

/// Repository paths in inline code. Fenced blocks and patterns such as `crates/*/src` are not names.
fn named_paths(document: &str) -> Vec<(usize, String)> {
    let mut paths = Vec::new();
    let mut fenced = false;
    for (line, text) in numbered(document) {
        if text.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let spans = text.split('`').skip(1).step_by(2);
            let words = spans.flat_map(str::split_whitespace).filter_map(repository_path);
            paths.extend(words.map(|path| (line, path)));
        }
    }
    paths
}

fn repository_path(word: &str) -> Option<String> {
    let path = word.trim_matches(|c| ",;()\"'".contains(c)).split(['#', ':']).next()?;
    let is_pattern = path.contains(['*', '<', '{', '[', '$', '…']) || path.contains("NNNN");
    let is_ours = PATH_STARTS.iter().any(|start| path.starts_with(start));
    (!is_pattern && (is_ours || ROOT_FILES.contains(&path))).then(|| path.to_owned())
}
