//! Finds the words of a text that carry its matter, in any script, in a form that can be compared.
//!
//! Words are those of Unicode. Scripts that write no spaces are cut into pairs of neighbouring characters, which
//! serve for finding as well as words do. English endings are taken off lightly; accents of Latin letters are
//! dropped; words that only hold a sentence together are left out.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use unicode_segmentation::UnicodeSegmentation as _;

/// Words that hold sentences together: English, then German, French, Spanish, Portuguese and Italian without those
/// that mean something in English.
const STOP_WORDS: &str = "a about above after again all also am an and any are as at be because been before being below \
    between both but by can cannot could did do does doing done down during each either else ever few for from further \
    get gets got had has have having he her here hers herself him himself his how however i if in into is it its itself \
    just let like many me might more most much must my myself no nor not now of off on once one only or other our \
    ours ourselves out over own per quite rather really same shall she should since so some such than that the their \
    theirs them themselves then there these they this those though through thus to too under until up upon us very was \
    we were what when where whether which while who whom whose why will with within without would yet you your yours \
    yourself yourselves im ive id ill youre youve hes shes weve theyre isnt arent dont doesnt didnt wont cant couldnt \
    wouldnt shouldnt wasnt werent hasnt havent whats whos wheres whens hows thats theres lets please \
    der das den dem des ein eine einen einem einer eines und oder aber nicht ist sind bin bist sein ich du er sie es wir \
    ihr mich mir dich dir uns euch mein meine meinen dein deine unser wie wer wo wann warum welche welcher welches mit \
    von zu zum zur im auf fur bei nach aus um als auch noch nur habe hast haben heisst heisse wird werden kann \
    le la les un une du et ou mais est sont suis etes je tu il elle nous vous ils elles mon ma mes ta tes notre \
    votre ce cette ces que qui quoi quel quelle quels quand pourquoi dans sur avec sans pas ne au aux en \
    el los las una unos y o pero es soy eres yo ella nosotros ellos mi mis tu tus su sus que quien cual cuando donde \
    como por para con sin del al se lo me te \
    os um uma e ou mas sou eu ele ela meu minha quem qual quando onde como por com sem no na dos das do da \
    il gli i uno ed ma sono sei io lui lei noi voi loro mio mia chi che cosa quando dove come perche con senza nel della";

/// Words people ask with. They count, but little: what is asked about counts.
const ASKING_WORDS: &str = "tell say said says mention mentioned mentions know think mean means give show find list explain \
    describe talk discuss discussed information details detail anything something everything thing things document \
    documents text texts file files conversation message messages attached attachment following happen happened remember \
    recall remind want need go goes going gone went come comes came make makes made take takes took put puts look exactly kind sort way ask asked question answer speak write wrote written written quote";

/// A word in comparable form, and where it stands in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) stem: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The words of a text that carry matter.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut run: Vec<(usize, usize)> = Vec::new();
    for (start, word) in text.unicode_word_indices() {
        if word.chars().all(is_unspaced) {
            if run.last().is_some_and(|(_, end)| *end != start) {
                end_run(text, &mut run, &mut found);
            }
            run.extend(word.char_indices().map(|(at, each)| (start + at, start + at + each.len_utf8())));
            continue;
        }
        end_run(text, &mut run, &mut found);
        let folded = folded(word);
        if !is_stop_word(&folded) && !folded.is_empty() {
            found.push(Word { stem: stemmed(&folded), start, end: start + word.len() });
        }
    }
    end_run(text, &mut run, &mut found);
    found
}

/// The comparable forms alone.
pub(super) fn stems(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.stem).collect()
}

/// All words in small letters without accents and apostrophes, stop words too.
pub(super) fn plain_words(text: &str) -> Vec<String> {
    text.unicode_words().map(folded).filter(|word| !word.is_empty()).collect()
}

pub(super) fn is_asking_word(stem: &str) -> bool {
    static STEMS: LazyLock<BTreeSet<String>> = LazyLock::new(|| ASKING_WORDS.split_whitespace().map(stemmed).collect());
    STEMS.contains(stem)
}

fn is_stop_word(folded: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());
    WORDS.contains(folded)
}

/// Pairs of neighbours; one character alone stands for itself.
fn end_run(text: &str, run: &mut Vec<(usize, usize)>, found: &mut Vec<Word>) {
    let word = |start: usize, end: usize| Word { stem: text[start..end].to_owned(), start, end };
    match run.as_slice() {
        [] => {}
        [(start, end)] => found.push(word(*start, *end)),
        several => found.extend(several.windows(2).map(|pair| word(pair[0].0, pair[1].1))),
    }
    run.clear();
}

/// Characters of scripts that put no spaces between words.
fn is_unspaced(character: char) -> bool {
    matches!(u32::from(character),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF
        | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

fn folded(word: &str) -> String {
    let lower = word.to_lowercase();
    let lower = lower.strip_suffix("'s").or_else(|| lower.strip_suffix("’s")).unwrap_or(&lower);
    let mut folded = String::with_capacity(lower.len());
    for character in lower.chars().filter(|character| !matches!(character, '\'' | '’' | '\u{300}'..='\u{36f}')) {
        match character {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            other => folded.push(unaccented(other)),
        }
    }
    folded
}

fn unaccented(character: char) -> char {
    match character {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'ď' | 'đ' => 'd',
        'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' => 'e',
        'ì'..='ï' | 'ī' | 'į' | 'ı' => 'i',
        'ł' => 'l',
        'ñ' | 'ń' | 'ň' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ő' => 'o',
        'ř' => 'r',
        'ś' | 'š' | 'ş' | 'ș' => 's',
        'ť' | 'ț' | 'ţ' => 't',
        'ù'..='ü' | 'ū' | 'ů' | 'ű' => 'u',
        'ý' | 'ÿ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        other => other,
    }
}

/// Takes off English endings, lightly: forms of one word meet, different words seldom do.
pub(super) fn stemmed(word: &str) -> String {
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) || word.len() < 4 {
        return word.to_owned();
    }
    let singular = without_plural(word);
    let base = without_verb_ending(&singular);
    base.strip_suffix('e').filter(|rest| rest.len() >= 3).unwrap_or(&base).to_owned()
}

fn without_plural(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ies").filter(|rest| rest.len() >= 2) {
        return format!("{rest}y");
    }
    for ending in ["sses", "shes", "ches", "xes", "zes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].to_owned();
        }
    }
    let is_plural = word.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    if is_plural { word[..word.len() - 1].to_owned() } else { word.to_owned() }
}

fn without_verb_ending(word: &str) -> String {
    let has_vowel = |text: &str| text.bytes().any(|byte| b"aeiouy".contains(&byte));
    for ending in ["ing", "ed"] {
        let Some(rest) = word.strip_suffix(ending).filter(|rest| rest.len() >= 3 && has_vowel(rest)) else { continue };
        let bytes = rest.as_bytes();
        let is_doubled = bytes[bytes.len() - 1] == bytes[bytes.len() - 2] && !b"lsz".contains(&bytes[bytes.len() - 1]);
        return if is_doubled { rest[..rest.len() - 1].to_owned() } else { rest.to_owned() };
    }
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::{stems, words};

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(stems(text), expected, "{text}");
    }

    #[test]
    fn forms_of_a_word_meet() {
        check("move moved moving moves", &["mov", "mov", "mov", "mov"]);
        check("plan plans planned planning", &["plan"; 4]);
        check("city cities, box boxes, Ana's", &["city", "city", "box", "box", "ana"]);
        check("status process analysis news", &["status", "process", "analysis", "new"]);
    }

    #[test]
    fn words_that_hold_sentences_together_are_left_out() {
        check("What is my name? I don't know who you're with.", &["nam", "know"]);
        check("Wie heißt der Termin für die Ärzte?", &["termin", "die", "arzt"]);
    }

    #[test]
    fn scripts_without_spaces_are_cut_into_pairs() {
        check("我的名字 Ana", &["我的", "的名", "名字", "ana"]);
        check("東京へ。行く", &["東京", "京へ", "行く"]);
        check("Привет, мир", &["привет", "мир"]);
    }

    #[test]
    fn words_say_where_they_stand() {
        let text = "Über Änderungen";
        let found = words(text);
        assert_eq!(found.iter().map(|word| &text[word.start..word.end]).collect::<Vec<_>>(), ["Über", "Änderungen"]);
    }
}
