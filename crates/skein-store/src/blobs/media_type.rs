//! Judges the media types that attachments name (rule MG-BLOB-001).

use skein_core::RuleViolation;

const BYTES_MAX: usize = 100;

/// Refuses what is no media type: two tokens with a slash between them. Attachments of older versions may name wildcards and
/// odd parameters, and are still read.
pub(crate) fn refuse_other_media_types(text: &str) -> Result<(), RuleViolation> {
    if parts(text).is_some() { Ok(()) } else { Err(violation()) }
}

/// Refuses what names no media type to be attached now: wildcards and malformed parameters, too.
pub(crate) fn refuse_unclear_media_type(text: &str) -> Result<(), RuleViolation> {
    let is_clear = parts(text)
        .is_some_and(|(essence, parameters)| !essence.contains('*') && parameters.is_none_or(are_parameters));
    if is_clear { Ok(()) } else { Err(violation()) }
}

fn violation() -> RuleViolation {
    RuleViolation::new("MG-BLOB-001", "an attachment needs a media type", "name one such as image/png")
}

/// Type and subtype, and what follows the first semicolon.
fn parts(text: &str) -> Option<(&str, Option<&str>)> {
    let is_spelled = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') && text.len() <= BYTES_MAX;
    let (essence, parameters) = text.split_once(';').map_or((text, None), |(essence, rest)| (essence, Some(rest)));
    let (kind, subtype) = essence.trim().split_once('/')?;
    (is_spelled && is_token(kind) && is_token(subtype)).then_some((essence, parameters))
}

fn is_token(text: &str) -> bool {
    let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_of_token)
}

/// Whether these are parameters: `name=value` or nothing, with semicolons between, where a value is a token or quoted.
fn are_parameters(text: &str) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', ';']);
        if rest.is_empty() {
            return true;
        }
        let Some((name, value)) = rest.split_once('=') else { return false };
        let is_quoted = value.starts_with('"');
        let end = if is_quoted { quoted_bytes(value) } else { Some(value.find(';').unwrap_or(value.len())) };
        let Some((value, after)) = end.and_then(|end| value.split_at_checked(end)) else { return false };
        if !is_token(name) || !(is_quoted || is_token(value.trim_end())) {
            return false;
        }
        rest = after.trim_start();
        if !rest.is_empty() && !rest.starts_with(';') {
            return false;
        }
    }
}

/// The length of a quoted text with its quotation marks; nothing if it does not end.
fn quoted_bytes(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().enumerate().skip(1).find_map(|(place, byte)| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends.then_some(place + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mg_blob_001_a_type_with_or_without_parameters_holds() {
        for text in [
            "image/png",
            "text/plain; charset=utf-8",
            "text/plain;a=b;c=\"d; \\\"e\\\"\" ; f=g",
            "a/b+json",
            "a/b;",
            "a/b; ;c=d;",
        ] {
            assert!(refuse_unclear_media_type(text).is_ok(), "{text}");
        }
        for earlier in ["*/*", "image/png; x"] {
            assert!(refuse_other_media_types(earlier).is_ok(), "an older attachment is read: {earlier}");
        }
    }

    #[test]
    fn mg_blob_001_wildcards_and_malformed_parameters_refuses() {
        let unclear = ["*/*", "image/*", "image/png; x", "image/png; =1", "a/b; c=\"d", "a/b; c=d e", "a/b;c=\"d\"e"];
        for text in unclear {
            assert!(refuse_unclear_media_type(text).is_err(), "{text}");
        }
        for text in ["", "image", "image/", " / ", "/image/png", "image/a b"] {
            assert!(refuse_other_media_types(text).is_err() && refuse_unclear_media_type(text).is_err(), "{text}");
        }
    }
}
