//! Checks a template before the parser reads it, because the parser recurses at every bracket and block.

/// Largest template, in bytes.
pub const TEMPLATE_BYTES_MAX: usize = 64 << 10;
/// Most tags of a template.
pub const TEMPLATE_TAGS_MAX: usize = 500;

/// Refuses, with the reason, what is too large or has other tags than paths and blocks.
pub(super) fn check(source: &str) -> Result<(), String> {
    if source.len() > TEMPLATE_BYTES_MAX {
        return Err(format!("it has {} bytes; the limit is {TEMPLATE_BYTES_MAX}", source.len()));
    }
    if source.contains('\0') {
        return Err("it has the character U+0000".to_owned());
    }
    let (mut rest, mut tags, mut depth) = (source, 0, 0_usize);
    while let Some(at) = rest.find("{{") {
        let (before, tag) = (&rest[..at], &rest[at + 2..]);
        if is_escaped(before) {
            rest = tag;
            continue;
        }
        tags += 1;
        let (inside, after) = cut(tag)?;
        depth += usize::from(inside.trim_start_matches('~').starts_with('#'));
        if tags > TEMPLATE_TAGS_MAX || depth > super::TEMPLATE_DEPTH_MAX {
            return Err(format!("it has more than {TEMPLATE_TAGS_MAX} tags, or they are nested too deeply"));
        }
        depth = depth.saturating_sub(usize::from(inside.trim_start_matches('~').starts_with('/')));
        rest = after;
    }
    Ok(())
}

/// One backslash before a tag makes a text of it; of two or more, none does.
fn is_escaped(before: &str) -> bool {
    before.ends_with('\\') && !before.ends_with("\\\\")
}

/// The inside of a tag and what follows it.
fn cut(tag: &str) -> Result<(&str, &str), String> {
    let unclosed = || "a {{ is never closed".to_owned();
    if let Some(comment) = tag.strip_prefix("!--")
        && let Some(end) = comment.find("--}}")
    {
        return Ok(("", &comment[end + 4..]));
    }
    let (inside, after) = tag.split_once("}}").ok_or_else(unclosed)?;
    if inside.starts_with('!') {
        return Ok(("", after));
    }
    let is_part = |c: char| c.is_alphanumeric() || c.is_ascii_whitespace() || "_-./@#^~&{}".contains(c);
    if inside.starts_with('{') && inside[1..].contains('{') || !inside.chars().all(is_part) {
        let shown: String = inside.chars().take(64).collect();
        return Err(format!("{{{{{shown}}}}} is more than a path"));
    }
    Ok((inside, after))
}
