//! Keeps the repository tidy: rules have tests, dependencies point inwards, documents name real paths.
//!
//! Reads text only and refuses to know what the crates do, so it stays fast and needs no database.
//! A failure lists every offending place as `file:line` and says what to do. The checks come first,
//! the readers they share below; start at [`done_rules_have_tests`].

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 70;
const LOCKED_PACKAGES_MAX: usize = 410;

const RULES: &str = "docs/rules.md";
const RULE_FAMILIES: [&str; 4] = ["br", "mg", "ag", "tr"];
const RULE_STATES: [&str; 2] = ["planned", "done"];

/// From the inside out: a crate uses those of earlier layers only.
const LAYERS: [&[&str]; 5] = [
    &["skein-core"],
    &["skein-store", "skein-recall", "skein-connect"],
    &["skein-engine"],
    &["skein-server"],
    &["skein-cli"],
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
fn folded_imports_are_unfolded() {
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

// Rust text

struct Function {
    name: String,
    line: usize,
    lines: usize,
}

fn functions(text: &str) -> Vec<Function> {
    let code = code_only(text);
    let lines: Vec<&str> = code.lines().collect();
    let mut functions = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if let Some(name) = item_name(line, "fn") {
            let lines = item_lines(&lines[index..]);
            functions.push(Function { name: name.to_owned(), line: index + 1, lines });
        }
    }
    functions
}

/// The name of the `fn` or `mod` that begins on this line.
fn item_name<'a>(line: &'a str, keyword: &str) -> Option<&'a str> {
    let is_qualifier = |word: &&str| word.starts_with("pub") || ["async", "const", "unsafe"].contains(word);
    let mut words = line.split_whitespace().skip_while(is_qualifier);
    words.next().filter(|word| *word == keyword)?;
    words.next()?.split(|c| !is_word(c)).next().filter(|name| !name.is_empty())
}

/// How many lines an item spans: to its closing brace, or to the semicolon if it has no body.
fn item_lines(lines: &[&str]) -> usize {
    let mut depth = 0_usize;
    for (index, line) in lines.iter().enumerate() {
        for c in line.chars() {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && matches!(c, '}' | ';') {
                return index + 1;
            }
        }
    }
    lines.len()
}

/// Every path a `use` brings in, written out in full, at the line of its `use`.
fn imports(text: &str) -> Vec<(usize, String)> {
    let code = code_only(text);
    let lines: Vec<&str> = code.lines().collect();
    let mut imports = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
        if words.next() == Some("use") {
            let statement = lines[index..].join(" ");
            let tree = statement.split(';').next().unwrap_or_default();
            let tree = tree.split_once("use ").map_or("", |(_, tree)| tree.trim());
            imports.extend(unfolded(tree).into_iter().map(|path| (index + 1, path)));
        }
    }
    imports
}

/// `std::{fmt, time::{Duration, Instant}}` as three paths.
fn unfolded(tree: &str) -> Vec<String> {
    let Some((head, rest)) = tree.split_once('{') else { return vec![tree.trim().to_owned()] };
    let branches = rest.trim_end().strip_suffix('}').unwrap_or(rest);
    let mut depth = 0_i32;
    let outer_comma = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    };
    let branches = branches.split(outer_comma).filter(|branch| !branch.trim().is_empty());
    branches.flat_map(unfolded).map(|tail| format!("{}{tail}", head.trim())).collect()
}

/// The text with comments and literals blanked out, line for line.
fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let length = literal_length(&chars[at..]).min(chars.len() - at);
        if length == 0 {
            code.push(chars[at]);
        }
        code.extend(chars[at..at + length].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
        at += length.max(1);
    }
    code
}

/// How long the comment or literal at the beginning is; 0 if there is none.
fn literal_length(text: &[char]) -> usize {
    match text {
        ['/', '/', ..] => text.iter().take_while(|c| **c != '\n').count(),
        ['/', '*', ..] => comment_length(text),
        ['"', ..] => string_length(text),
        ['r', '"' | '#', ..] => raw_string_length(text),
        ['\'', '\\', _, rest @ ..] => 4 + rest.iter().take_while(|c| **c != '\'').count(),
        ['\'', _, '\'', ..] => 3,
        _ => 0,
    }
}

fn comment_length(text: &[char]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        match &text[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string_length(text: &[char]) -> usize {
    let mut at = 1;
    while at < text.len() && text[at] != '"' {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

fn raw_string_length(text: &[char]) -> usize {
    let hashes = text[1..].iter().take_while(|c| **c == '#').count();
    let opening = 1 + hashes;
    if text.get(opening) != Some(&'"') {
        return 0;
    }
    let is_end = |rest: &[char]| rest[0] == '"' && rest[1..].iter().all(|c| *c == '#');
    let body = text[opening + 1..].windows(hashes + 1).take_while(|rest| !is_end(rest)).count();
    opening + 1 + body + hashes + 1
}

// Words

/// Whether the needle stands in the line as itself, not inside a longer name.
fn mentions(line: &str, needle: &str) -> bool {
    line.match_indices(needle).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + needle.len()..]);
        let joined_before = needle.starts_with(is_word) && before.ends_with(is_word);
        let joined_after = needle.ends_with(is_word) && after.starts_with(is_word);
        !joined_before && !joined_after
    })
}

/// Whether the path stands in the line from its very beginning, not as the end of another one.
fn names_absolutely(line: &str, path: &str) -> bool {
    let continues = |c: char| is_word(c) || ".-}".contains(c);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(continues))
}

fn is_vague(name: &str) -> bool {
    name.rsplit(['_', '-']).next().is_some_and(|word| VAGUE_NAMES.contains(&word))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

// Files

/// A text file of the repository, by its path from the root.
struct Source {
    path: String,
    text: String,
}

impl Source {
    fn open(path: String) -> Option<Self> {
        let text = read(&path)?;
        Some(Self { path, text })
    }

    fn is_in(&self, folder: &str) -> bool {
        self.path.contains(folder)
    }
}

fn rust_sources(start: &str) -> Vec<Source> {
    let paths = files().into_iter().filter(|p| p.starts_with(start) && has_extension(p, "rs"));
    paths.filter_map(Source::open).collect()
}

fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

/// The text of a file; nothing if it is missing or not text.
fn read(path: &str) -> Option<String> {
    fs::read_to_string(root().join(path)).ok()
}

/// Every file of the repository that is not ignored, by its path from the root, sorted.
fn files() -> Vec<String> {
    let mut found = Vec::new();
    collect_files(&root(), "", &ignore_patterns(), &mut found);
    found.sort();
    found
}

fn collect_files(folder: &Path, prefix: &str, ignored: &[String], found: &mut Vec<String>) {
    let entries = fs::read_dir(folder).expect("the repository can be read");
    for entry in entries.map(|entry| entry.expect("the repository can be read")) {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().expect("a listed file has a type");
        if is_ignored(&path, ignored) {
            continue;
        }
        if kind.is_dir() {
            collect_files(&entry.path(), &format!("{path}/"), ignored, found);
        } else if kind.is_file() {
            found.push(path);
        }
    }
}

fn ignore_patterns() -> Vec<String> {
    let text = read(".gitignore").unwrap_or_default();
    let written = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    let always = ["/.git", "/target", "node_modules"];
    always.into_iter().chain(written).map(str::to_owned).collect()
}

/// Understands what we write in `.gitignore`: a name, a path from the root, or `*` and an ending.
fn is_ignored(path: &str, patterns: &[String]) -> bool {
    patterns.iter().map(|pattern| pattern.trim_end_matches('/')).any(|pattern| {
        if let Some(ending) = pattern.strip_prefix('*') {
            path.ends_with(ending)
        } else if pattern.contains('/') {
            let rest = path.strip_prefix(pattern.trim_start_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        } else {
            path.split('/').any(|name| name == pattern)
        }
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
