//! A light English stemmer and the words that say nothing.
//!
//! It takes off the commonest endings and stops: plural, past, continuous. Words of other alphabets are left alone; texts of other
//! languages have stems of their own beside, see [`crate::language`].

/// The stem of a folded word.
pub(crate) fn stem(mut word: String) -> String {
    if word.len() <= 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    singular(&mut word);
    plain_verb(&mut word);
    if word.len() > 5 && word.ends_with("ly") {
        word.truncate(word.len() - 2);
    }
    if word.len() > 3 && word.ends_with('e') {
        word.pop();
    }
    if word.len() > 3 && word.ends_with('y') {
        word.pop();
        word.push('i');
    }
    word
}

fn singular(word: &mut String) {
    let length = word.len();
    if length > 4 && word.ends_with("ies") {
        word.truncate(length - 3);
        word.push('y');
    } else if word.ends_with("sses")
        || length > 4 && ["ses", "xes", "zes", "hes"].iter().any(|ending| word.ends_with(ending))
    {
        word.truncate(length - 2);
    } else if word.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending)) {
        word.truncate(length - 1);
    }
}

fn plain_verb(word: &mut String) {
    for ending in ["ing", "ed"] {
        let Some(root) = word.strip_suffix(ending) else { continue };
        if root.len() < 3 || !root.bytes().any(|byte| b"aeiouy".contains(&byte)) {
            continue;
        }
        let length = root.len();
        let last = root.as_bytes()[length - 1];
        let is_doubled = length > 3 && root.as_bytes()[length - 2] == last && !b"lsz".contains(&last);
        word.truncate(if is_doubled { length - 1 } else { length });
        if !is_doubled && ["at", "bl", "iz"].iter().any(|ending| word.ends_with(ending)) {
            word.push('e');
        }
        return;
    }
}

/// Whether a folded word is too common to tell anything.
pub(crate) fn is_stop_word(word: &str) -> bool {
    word.len() <= 10 && STOP_WORDS.binary_search(&word).is_ok()
}

/// In order, for the search.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "arent", "as", "at", "be",
    "because", "been", "before", "being", "between", "both", "but", "by", "can", "cant", "could", "couldnt", "d",
    "did", "didnt", "do", "does", "doesnt", "doing", "don", "dont", "during", "each", "few", "for", "from", "further",
    "had", "has", "hasnt", "have", "havent", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if",
    "im", "in", "into", "is", "isnt", "it", "its", "itself", "ive", "just", "ll", "m", "me", "more", "most", "my",
    "no", "nor", "not", "now", "of", "on", "once", "only", "or", "other", "our", "ours", "out", "over", "own", "re",
    "s", "same", "she", "should", "so", "some", "such", "t", "than", "that", "thats", "the", "their", "theirs",
    "them", "then", "there", "these", "they", "theyre", "this", "those", "through", "to", "too", "under", "until",
    "up", "us", "ve", "very", "was", "wasnt", "we", "were", "werent", "what", "whats", "when", "where", "which",
    "while", "who", "whom", "why", "will", "with", "wont", "would", "wouldnt", "you", "your", "youre", "yours",
    "youve",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["dog", "dogs"][..],
            &["story", "stories"],
            &["paint", "paints", "painted", "painting"],
            &["plan", "planned", "planning"],
            &["move", "moved", "moving", "moves"],
            &["create", "created", "creating"],
            &["quick", "quickly"],
            &["box", "boxes"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| stem((*form).to_owned())).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
        }
    }

    #[test]
    fn short_foreign_and_mixed_words_stay() {
        for word in ["bus", "this", "gas", "мыши", "b2b3s", "sing"] {
            assert_eq!(stem(word.to_owned()), word);
        }
    }

    #[test]
    fn stop_words_are_in_order() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && !is_stop_word("dog"));
    }
}
