//! The short texts of a tree: titles, instructions, tags. Each is checked once, when it is read.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest title, in characters.
pub const TITLE_CHARS_MAX: usize = 200;
/// Longest instructions, in characters. They are never cut from a context window.
pub const INSTRUCTIONS_CHARS_MAX: usize = 32_000;
/// Longest tag, in characters.
pub const TAG_CHARS_MAX: usize = 100;

/// Why a text is no title, no instructions or no tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    #[error("a title is one line of 1 to {TITLE_CHARS_MAX} characters")]
    Title,
    #[error("instructions have 1 to {INSTRUCTIONS_CHARS_MAX} characters; send null to take them away")]
    Instructions,
    #[error("a label is one line of 1 to {TITLE_CHARS_MAX} characters")]
    BookmarkLabel,
    #[error("a tag is one line of 1 to {TAG_CHARS_MAX} characters, without spaces around it")]
    Tag,
}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident if $is_legal:path;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadText;

            fn try_from(text: String) -> Result<Self, BadText> {
                if $is_legal(&text) { Ok(Self(text)) } else { Err(BadText::$name) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

texts! {
    /// What a conversation is called.
    Title if is_title;
    /// What a bookmark is called.
    BookmarkLabel if is_title;
    /// What stands at the head of a context window.
    Instructions if is_instructions;
    /// A word things are gathered under; `Idea` and `idea` are two (decision G9).
    Tag if is_tag;
}

fn is_title(text: &str) -> bool {
    is_line(text) && text.chars().count() <= TITLE_CHARS_MAX
}

fn is_instructions(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains('\0') && text.chars().count() <= INSTRUCTIONS_CHARS_MAX
}

fn is_tag(text: &str) -> bool {
    is_line(text) && text.trim() == text && text.chars().count() <= TAG_CHARS_MAX
}

fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ag_node_007_tags_differ_by_case_holds() {
        let tag = |text: &str| Tag::try_from(text.to_owned()).unwrap();
        assert_ne!(tag("Idea"), tag("idea"));
    }

    #[test]
    fn ag_node_007_empty_long_or_padded_tags_refuses() {
        for text in ["", " ", " idea", "a\nb", &"x".repeat(TAG_CHARS_MAX + 1)] {
            assert!(Tag::try_from(text.to_owned()).is_err(), "{text:?} was taken for a tag");
        }
    }
}
