//! Finds the parameters of a Cypher query, without reading it as a query.
//!
//! `$name` and `` $`any name` `` count wherever code may stand; inside texts, comments and quoted names a `$` is only a
//! character. Whether the query makes sense is for the database to say.

use std::collections::BTreeSet;

/// The names of all parameters.
pub fn parameters(query: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut rest = query;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' | '"' => text_length(rest, first),
            '`' => quoted_name_length(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '$' => 1 + parameter(&rest[1..], &mut names),
            _ => first.len_utf8(),
        };
        rest = &rest[length..];
    }
    names
}

/// Notes the name after a `$` and says how long it is.
fn parameter(rest: &str, names: &mut BTreeSet<String>) -> usize {
    if rest.starts_with('`') {
        let length = quoted_name_length(rest);
        let inner = &rest[1..length];
        names.insert(inner.strip_suffix('`').unwrap_or(inner).replace("``", "`"));
        return length;
    }
    let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    if length > 0 {
        names.insert(rest[..length].to_owned());
    }
    length
}

/// How long a text is, both quotes included; a backslash keeps a quote from ending it.
fn text_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    let end = rest.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == quote && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(rest.len(), |(at, _)| at + 1)
}

/// How long a name in backticks is, both included; a doubled backtick stands for one in the name.
fn quoted_name_length(rest: &str) -> usize {
    let mut at = 1;
    while let Some(found) = rest[at..].find('`') {
        at += found + 1;
        if !rest[at..].starts_with('`') {
            return at;
        }
        at += 1;
    }
    rest.len()
}
