//! Definitions as people write them: a document in JSON or YAML, told apart by how it begins.
//!
//! What comes out is JSON either way, so the server sees no difference. YAML is taken plainly: no anchors and aliases,
//! which can grow without bounds, no tags, no merging, and only `true` and `false` are booleans. Start at [`Source`].

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Error, anyhow};
use serde::Serialize;
use serde_json::{Map, Value};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::{MergeKeyPolicy, NonFiniteFloatPolicy};
use skein_core::document::{self, DOCUMENT_DEPTH_MAX};

use crate::failure::Failure;

/// Above what the API takes of a definition, so that the API is what says no; a described API may be this large.
const DOCUMENT_BYTES_MAX: usize = 8 << 20;
/// Scalars and collections of one document; a described API of the largest size stays below.
const YAML_NODES_MAX: usize = 1_000_000;

/// Where a document is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Input,
    File(PathBuf),
}

impl Source {
    /// `-` is standard input.
    pub(crate) fn named(path: PathBuf) -> Self {
        if path == Path::new("-") { Self::Input } else { Self::File(path) }
    }

    /// The object in it.
    pub(crate) fn read(&self) -> Result<Map<String, Value>, Failure> {
        let text = self.text().map_err(|error| Failure::usage(error, "name a file of UTF-8 text, or - for input"))?;
        let parsed = parse(&text).with_context(|| self.shown());
        parsed.map_err(|error| Failure::usage(error, "write an object in JSON or YAML; … show NAME --yaml prints one"))
    }

    fn text(&self) -> Result<String, Error> {
        match self {
            Self::Input => bounded(std::io::stdin()).context("standard input cannot be read"),
            Self::File(path) => {
                let opened = File::open(path).map_err(Error::new);
                opened.and_then(bounded).with_context(|| format!("cannot read {}", path.display()))
            }
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Input => "standard input".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }
}

fn bounded(from: impl Read) -> Result<String, Error> {
    let mut text = String::new();
    from.take(DOCUMENT_BYTES_MAX as u64 + 1).read_to_string(&mut text)?;
    if text.len() > DOCUMENT_BYTES_MAX {
        return Err(anyhow!("there is more than {} MiB of it", DOCUMENT_BYTES_MAX >> 20));
    }
    Ok(text)
}

/// An object; in JSON when it begins with a brace, else in YAML.
fn parse(text: &str) -> Result<Map<String, Value>, Error> {
    let text = text.trim_start_matches('\u{feff}');
    let value = if text.trim_start().starts_with('{') { parse_json(text)? } else { parse_yaml(text)? };
    document::check(&value)?;
    match value {
        Value::Object(object) => Ok(object),
        Value::Null => Err(anyhow!("it is empty")),
        _ => Err(anyhow!("it is not an object")),
    }
}

/// By the same rules as at the server; only a described API may be larger than what the server keeps.
fn parse_json(text: &str) -> Result<Value, Error> {
    if text.len() <= document::DOCUMENT_BYTES_MAX {
        return Ok(document::parse(text.as_bytes())?);
    }
    serde_json::from_str(text).context("not valid JSON")
}

fn parse_yaml(text: &str) -> Result<Value, Error> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_anchors: 0,
            max_aliases: 0,
            max_documents: 1,
            max_depth: DOCUMENT_DEPTH_MAX + 1,
            max_nodes: YAML_NODES_MAX,
            max_events: 3 * YAML_NODES_MAX,
            max_total_scalar_bytes: DOCUMENT_BYTES_MAX,
        },
        merge_keys: MergeKeyPolicy::Error,
        non_finite_float_policy: NonFiniteFloatPolicy::Reject,
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|bad| in_words(&bad))
}

fn in_words(bad: &serde_saphyr::Error) -> Error {
    match bad {
        serde_saphyr::Error::Budget {
            breach: BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. },
            location,
        } => {
            anyhow!("anchors and aliases are not taken; write it out in each place (line {})", location.line())
        }
        _ => anyhow!("not valid YAML: {bad}"),
    }
}

/// The value as people edit it; reading it gives the same value.
pub(crate) fn to_yaml(value: &impl Serialize) -> Result<String, Failure> {
    let options = serde_saphyr::ser_options! { min_fold_chars: usize::MAX, folded_wrap_chars: usize::MAX };
    serde_saphyr::to_string_with_options(value, options).map_err(|bad| {
        let error = anyhow!("it cannot be written as YAML: {bad}");
        Failure::new(crate::exit::Exit::Failed, error, "use --json")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(text: &str, expected: &Value) {
        assert_eq!(Value::from(parse(text).unwrap()), *expected, "{text}");
    }

    fn refused(text: &str) -> String {
        format!("{:#}", parse(text).unwrap_err())
    }

    #[test]
    fn json_and_yaml_are_told_apart_by_how_they_begin() {
        let expected = json!({ "name": "Weather", "on": true, "tries": 3, "share": 0.5, "none": null });
        check(r#" {"name": "Weather", "on": true, "tries": 3, "share": 0.5, "none": null}"#, &expected);
        check("---\nname: Weather\non: true\ntries: 3\nshare: 0.5\nnone:\n", &expected);
        check("\u{feff}a: 1\n", &json!({ "a": 1 }));
    }

    #[test]
    fn words_that_only_look_like_something_else_stay_words() {
        check(
            "a: yes\nb: no\nc: \"1\"\nd: 1.2.3\ne: 2026-01-31\n",
            &json!({
                "a": "yes", "b": "no", "c": "1", "d": "1.2.3", "e": "2026-01-31",
            }),
        );
        check(
            "responses:\n  200:\n    description: fine\n",
            &json!({ "responses": { "200": { "description": "fine" } } }),
        );
    }

    #[test]
    fn what_could_grow_or_hide_something_is_refused() {
        let bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
        let deep = format!("a: {}1{}", "[".repeat(200), "]".repeat(200));
        for text in [
            bomb,
            "a: &a 1\n",
            "a: *b\n",
            "a: 1\na: 2\n",
            "a: !!python/object:os.system x\n",
            "<<: {a: 1}\n",
            "a: .inf\n",
            "a: 1\n---\nb: 2\n",
            "- a\n- b\n",
            "just words",
            "",
            "a: \"\\0\"\n",
            "a: [1\n",
            r#"{"a": 1, "a": 2}"#,
            r#"{"a": 1"#,
            &deep,
        ] {
            assert!(!refused(text).is_empty(), "{text}");
        }
        assert!(refused("a: 1\nb: [\n").contains("line 2"), "{}", refused("a: 1\nb: [\n"));
        assert!(refused("a: &a 1\n").contains("anchors and aliases are not taken"));
    }

    #[test]
    fn what_is_written_is_read_back_the_same() {
        let value = json!({
            "name": "yes", "number": "007", "empty": "", "list": [], "object": {}, "null": null, "on": false,
            "text": "first line\n  second: line\n\n", "quote": "it's \"so\"", "hash": "a # b", "float": 1.0,
            "long": "word ".repeat(60), "dash": "- x", "colon": "a: b", "nested": [{ "a": [1, [2]] }, { "b": "\t" }],
            "template": "{{name}}", "steer": "\u{1b}[2J", "edge": " x ", "star": "*a", "bar": "|", "big": i64::MAX,
            "lines": "a\r\nb", "next": "a\u{85}b\u{2028}c", "tilde": "~", "Null": "null", "bang": "!x", "at": "@x",
        });
        let written = to_yaml(&value).unwrap();
        assert_eq!(Value::from(parse(&written).unwrap()), value, "{written}");
        assert!(written.contains("name: \"yes\"") || written.contains("name: 'yes'"), "{written}");
        assert!(!written.contains('\u{1b}'), "{written}");
    }

    #[test]
    fn too_much_is_not_read() {
        let endless = std::io::repeat(b' ');
        assert!(bounded(endless).unwrap_err().to_string().contains("more than 8 MiB"));
    }
}
