//! Takes a JSON object or array apart without reading its parts.
//!
//! The limits of a document hold for what a client states, not for the request around it: so the parts of a
//! request are cut out as text, and each is read by [`skein_core::document`]. Only the cuts are made here;
//! whether a part is JSON at all is for its reader to say.

use skein_core::document::BadDocument;

/// Calls `each` with every name and the text of its value, in order, until one is refused.
pub(crate) fn each_member<'a, E: From<BadDocument>>(
    text: &'a [u8],
    mut each: impl FnMut(&str, &'a [u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut scanner = Scanner { text, at: 0 };
    if !scanner.take(b'{') {
        return Err(BadDocument::NotAnObject.into());
    }
    scanner.each_part(b'}', |scanner| {
        let name = scanner.name()?;
        if !scanner.take(b':') {
            return Err(scanner.unexpected("a colon").into());
        }
        each(&name, scanner.value()?)
    })
}

/// Calls `each` with the text of every element, in order, until one is refused.
pub(crate) fn each_element<'a, E: From<BadDocument>>(
    text: &'a [u8],
    mut each: impl FnMut(&'a [u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut scanner = Scanner { text, at: 0 };
    if !scanner.take(b'[') {
        return Err(scanner.unexpected("an array").into());
    }
    scanner.each_part(b']', |scanner| each(scanner.value()?))
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Parts separated by commas up to `end`, after which nothing may follow.
    fn each_part<E: From<BadDocument>>(
        &mut self,
        end: u8,
        mut part: impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.take(end) {
            part(self)?;
            while self.take(b',') {
                part(self)?;
            }
            if !self.take(end) {
                return Err(self.unexpected("a comma or the end").into());
            }
        }
        self.skip_space();
        if self.at < self.text.len() {
            return Err(self.unexpected("nothing more").into());
        }
        Ok(())
    }

    fn take(&mut self, wanted: u8) -> bool {
        self.skip_space();
        let found = self.text.get(self.at) == Some(&wanted);
        self.at += usize::from(found);
        found
    }

    fn name(&mut self) -> Result<String, BadDocument> {
        self.skip_space();
        let start = self.at;
        if self.text.get(start) != Some(&b'"') {
            return Err(self.unexpected("a name in quotes"));
        }
        self.skip_text();
        let name = &self.text[start..self.at];
        serde_json::from_slice(name).map_err(|error| BadDocument::NotJson(error.to_string()))
    }

    /// Everything up to the comma or bracket that ends the value.
    fn value(&mut self) -> Result<&'a [u8], BadDocument> {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b'"' => {
                    self.skip_text();
                    continue;
                }
                b',' | b']' | b'}' if depth == 0 => break,
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        let value = self.text[start..self.at].trim_ascii();
        if value.is_empty() { Err(self.unexpected("a value")) } else { Ok(value) }
    }

    /// Moves behind the closing quote, or to the end when there is none.
    fn skip_text(&mut self) {
        self.at += 1;
        while let Some(byte) = self.text.get(self.at) {
            self.at += match byte {
                b'"' => break,
                b'\\' => 2,
                _ => 1,
            };
        }
        self.at = (self.at + 1).min(self.text.len());
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    fn unexpected(&self, expected: &str) -> BadDocument {
        BadDocument::NotJson(format!("expected {expected} at byte {}", self.at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn members(text: &str) -> Result<Vec<(String, String)>, BadDocument> {
        let mut found = Vec::new();
        each_member(text.as_bytes(), |name, value| {
            found.push((name.to_owned(), String::from_utf8(value.to_vec()).unwrap()));
            Ok::<(), BadDocument>(())
        })?;
        Ok(found)
    }

    #[test]
    fn parts_are_cut_where_they_end() {
        let text = r#" { "a" : {"b":[1,"}],{\""]} , "\u0063":"x\\","d":-1.5e3 } "#;
        let expected = [("a", r#"{"b":[1,"}],{\""]}"#), ("c", r#""x\\""#), ("d", "-1.5e3")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(members(text).unwrap(), expected);
        assert_eq!(members("{}").unwrap(), []);
    }

    #[test]
    fn elements_are_cut_likewise() {
        let mut found = Vec::new();
        let push = |value| {
            found.push(value);
            Ok::<(), BadDocument>(())
        };
        each_element(br#"[1, [2,3] ,{"a":[]}]"#, push).unwrap();
        assert_eq!(found, [&b"1"[..], b"[2,3]", br#"{"a":[]}"#]);
    }

    #[test]
    fn what_cannot_be_cut_is_refused() {
        for text in ["", "[]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1", "{\"a\":1,}", "{a:1}", "{}x", "{\"a", "{\"a\\"] {
            assert!(members(text).is_err(), "{text:?} was taken apart");
        }
    }

    #[test]
    fn every_part_of_a_document_is_read_as_the_whole_would_be() {
        for text in [r#"{"a":[1}]}"#, r#"{"a":1 2}"#, r#"{"a":tru}"#, "{\"a\":\"\n\"}"] {
            let whole = skein_core::document::parse(text.as_bytes());
            let part = members(text).map(|members| skein_core::document::parse(members[0].1.as_bytes()));
            assert!(whole.is_err() && !matches!(part, Ok(Ok(_))), "{text}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![any::<Option<i64>>().prop_map(|n| json!(n)), any::<String>().prop_map(Value::from)];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4).prop_map(|map| json!(map)),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_cut_is_what_was_written(object in prop::collection::btree_map(any::<String>(), any_json(), 0..5)) {
            for text in [serde_json::to_string(&object).unwrap(), serde_json::to_string_pretty(&object).unwrap()] {
                let cut = members(&text).unwrap().into_iter();
                let read = cut.map(|(name, value)| (name, serde_json::from_str(&value).unwrap())).collect();
                prop_assert_eq!(&object, &read);
            }
        }

        #[test]
        fn any_bytes_are_cut_or_refused(text in "[\\[\\]{}:,\"\\\\a1 \\n\u{e9}]{0,40}") {
            let _ = members(&text);
            let _ = each_element(text.as_bytes(), |_| Ok::<(), BadDocument>(()));
        }
    }
}
