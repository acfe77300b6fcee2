//! Tells texts that say something from those of which nothing can be seen.

/// Whether nothing of a text can be seen: white space, and characters that have no width of their own.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|character| character.is_whitespace() || is_invisible(character))
}

/// Characters that only shape what stands around them.
pub(crate) fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_width_is_blank() {
        for text in ["", " \n", "\u{200b}", "\u{2060}\u{feff}", "\u{ad} \u{200d}"] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in ["a\u{200b}", "\u{ad}.", "👩\u{200d}💻", "你"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }
}
