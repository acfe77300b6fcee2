//! Reads Rust as text: which functions and imports there are, what is code and what is not.

use crate::VAGUE_NAMES;

pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) lines: usize,
}

pub(crate) fn functions(text: &str) -> Vec<Function> {
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
pub(crate) fn item_name<'a>(line: &'a str, keyword: &str) -> Option<&'a str> {
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
pub(crate) fn imports(text: &str) -> Vec<(usize, String)> {
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
pub(crate) fn code_only(text: &str) -> String {
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

/// Whether the needle stands in the line as itself, not inside a longer name.
pub(crate) fn mentions(line: &str, needle: &str) -> bool {
    line.match_indices(needle).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + needle.len()..]);
        let joined_before = needle.starts_with(is_word) && before.ends_with(is_word);
        let joined_after = needle.ends_with(is_word) && after.starts_with(is_word);
        !joined_before && !joined_after
    })
}

/// Whether the path stands in the line from its very beginning, not as the end of another one.
pub(crate) fn names_absolutely(line: &str, path: &str) -> bool {
    let continues = |c: char| is_word(c) || ".-}".contains(c);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(continues))
}

pub(crate) fn is_vague(name: &str) -> bool {
    name.rsplit(['_', '-']).next().is_some_and(|word| VAGUE_NAMES.contains(&word))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub(crate) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}
