//! Detects the language of a text by its commonest words, and stems words in that language.
//!
//! A text of a known language is also filed under its stems. A question need not be of a known language, and mostly is too short
//! for that: it asks for the stems of all languages there are, beside the words themselves. English has a stemmer of its own that
//! every text passes, so nothing changes where everything is English.

use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use crate::analysis::{fold, is_apostrophe};
use crate::stem::is_stop_word;

/// Words of a text that are looked at.
const WORDS_MAX: usize = 1_000;
/// A language is known by so many of its common words, and by one in so many words of the text.
const COMMON_MIN: usize = 2;
const COMMON_PART: usize = 8;
/// Shorter words have no endings.
const STEMMED_CHARS_MIN: usize = 3;
/// Stands before stems, so that no word of a text is taken for one.
const MARK: char = '\u{1}';

/// A language whose words have stems here; the place in [`LANGUAGES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Language(u8);

struct Kind {
    code: &'static str,
    algorithm: Algorithm,
    common: &'static str,
}

const fn kind(code: &'static str, algorithm: Algorithm, common: &'static str) -> Kind {
    Kind { code, algorithm, common }
}

/// Rows of an index name languages by their places here: only ever add at the end.
#[rustfmt::skip]
static LANGUAGES: [Kind; 15] = [
    kind("de", Algorithm::German, "der die das den dem des ein eine einen einem einer und oder aber nicht ist sind war waren wird \
        wurde haben hat hatte ich du er sie es wir ihr mich mir dich uns im am vom zum zur auf aus bei mit nach von vor zu für über \
        unter auch noch nur schon sehr wie wenn dass weil kein keine mein meine dein sein seine sich was wer wo warum als"),
    kind("fr", Algorithm::French, "le la les un une des du de et ou mais est sont était étaient être avoir a ai as ont avait je tu il \
        elle nous vous ils elles me te se mon ma mes ton ta ses son sa leur ce cette ces dans sur sous avec sans pour par chez que \
        qui quoi dont où ne pas plus très aussi comme quand parce si au aux en y l d j c n s qu"),
    kind("es", Algorithm::Spanish, "el la los las un una unos unas de del y o pero es son era eran ser estar está están fue ha han \
        había yo tú él ella nosotros ellos ellas me te se mi mis tu su sus este esta estos estas ese esa en sobre con sin para por \
        que quien cuando donde como porque no sí muy más también ya hay lo le les al"),
    kind("it", Algorithm::Italian, "il lo la i gli le un uno una di del della dei delle degli e o ma è sono era erano essere ha hanno \
        aveva io tu lui lei noi voi loro mi ti si ci vi mio mia tuo suo sua questo questa quello quella in nel nella sul sulla con \
        senza per da dal dalla al alla che chi cui dove quando come perché non più molto anche già se"),
    kind("pt", Algorithm::Portuguese, "o a os as um uma uns umas de do da dos das e ou mas é são era eram ser estar está estão foi \
        tem têm tinha eu tu ele ela nós vocês eles elas me te se meu minha seu sua este esta esse essa isso em no na nos nas sobre \
        com sem para por pelo pela que quem quando onde como porque não sim muito mais também já há ao à lhe"),
    kind("nl", Algorithm::Dutch, "de het een en of maar is zijn was waren wordt werd heeft hebben had ik jij je hij zij ze wij we \
        jullie mij me hem haar ons onze mijn jouw zijn hun dit dat deze die in op aan met van voor naar bij uit over onder tot te \
        niet geen ook nog al wel heel meer als wanneer waar wat wie waarom omdat er hier daar"),
    kind("sv", Algorithm::Swedish, "en ett den det de och eller men är var vara har hade jag du han hon vi ni dem mig dig sig min mitt \
        mina din ditt hans hennes vår deras detta denna dessa i på av med från till för hos om över under utan inte ej också mycket \
        mer när där vad vem varför som att så här efter"),
    kind("da", Algorithm::Danish, "en et den det de og eller men er var være har havde jeg du han hun vi dem mig dig sig min mit mine \
        din dit hans hendes vores deres dette denne disse i på af med fra til for hos om over under uden ikke også meget mere når \
        hvor hvad hvem hvorfor som at så her efter blev bliver"),
    kind("no", Algorithm::Norwegian, "en et ei den det de og eller men er var være har hadde jeg du han hun vi dere dem meg deg seg \
        min mitt mine din ditt hans hennes vår deres dette denne disse i på av med fra til for hos om over under uten ikke også \
        mye mer når hvor hva hvem hvorfor som at så her etter ble blir"),
    kind("fi", Algorithm::Finnish, "ja tai mutta on ovat oli olivat olla ei en et emme minä sinä hän me te he minun sinun hänen meidän \
        tämä tuo se nämä ne joka jotka mikä mitä missä kun koska jos niin myös vielä jo vain kuin että sekä siellä täällä kanssa \
        hyvin minulla oli olen olet"),
    kind("hu", Algorithm::Hungarian, "a az egy és vagy de van vannak volt voltak lesz nem igen én te ő mi ti ők engem téged ez azt ezt \
        ezek azok aki ami hol mikor miért hogy ha mert is csak már még nagyon meg ki be el fel le itt ott minden sem"),
    kind("ro", Algorithm::Romanian, "un o unei unui și sau dar este sunt era erau fi am ai are au avea eu tu el ea noi voi ei ele mă te \
        se meu mea tău său sa acest această acel în pe cu fără pentru de la din despre că care cine ce unde când cum nu da foarte \
        mai și deja sub după"),
    kind("tr", Algorithm::Turkish, "bir ve veya ama değil bu şu o ben sen biz siz onlar benim senin onun bizim için ile gibi kadar daha \
        çok en mi mı mu mü ne nerede neden nasıl var yok olan olarak sonra önce de da ki her şey ise ya hem"),
    kind("ru", Algorithm::Russian, "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было \
        вот от меня еще нет о из ему теперь когда даже ну если уже или ни быть был него до вас нибудь вам ведь там потом себя ничего \
        ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто это этот"),
    kind("el", Algorithm::Greek, "ο η το οι τα του της των τον την και ή αλλά είναι ήταν να θα δεν μη εγώ εσύ αυτός αυτή αυτό εμείς \
        εσείς μου σου μας σας τους σε με από για προς στο στη στην στον στα που πως όταν αν γιατί πολύ πιο επίσης ένας μια ένα"),
];

/// A bit for each language that has this common word.
static COMMON: LazyLock<HashMap<&'static str, u16>> = LazyLock::new(|| {
    let mut common = HashMap::new();
    for (place, kind) in LANGUAGES.iter().enumerate() {
        kind.common.split_whitespace().for_each(|word| *common.entry(word).or_default() |= 1_u16 << place);
    }
    common
});

impl Language {
    /// The language of a text, if it is one of these and not English.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let (mut having, mut english, mut count) = ([0_usize; LANGUAGES.len()], 0, 0);
        for word in text.unicode_words().take(WORDS_MAX) {
            let lower = word.to_lowercase();
            count += 1;
            english += usize::from(is_stop_word(&lower));
            let languages = COMMON.get(lower.as_str()).copied().unwrap_or(0);
            having.iter_mut().enumerate().for_each(|(place, had)| *had += usize::from(languages >> place & 1));
        }
        let most = having.iter().copied().max().unwrap_or(0);
        let is_known = most >= COMMON_MIN && most > english && most * COMMON_PART >= count;
        let place = having.iter().position(|had| *had == most).filter(|_| is_known)?;
        u8::try_from(place).ok().map(Self)
    }

    /// As a row keeps it; 0 is none.
    pub(crate) fn number(of: Option<Self>) -> u8 {
        of.map_or(0, |language| language.0 + 1)
    }

    pub(crate) fn numbered(number: u8) -> Option<Self> {
        number.checked_sub(1).filter(|place| usize::from(*place) < LANGUAGES.len()).map(Self)
    }

    /// What a word of this language is filed under beside itself.
    pub(crate) fn stem(self, word: &str) -> Option<String> {
        let kind = &LANGUAGES[usize::from(self.0)];
        // Of what apostrophes join, the longest part is the word.
        let lower = word.split(is_apostrophe).max_by_key(|part| part.len())?.to_lowercase();
        let is_word = lower.chars().count() >= STEMMED_CHARS_MIN && lower.chars().all(char::is_alphabetic);
        let is_common = COMMON.get(lower.as_str()).is_some_and(|languages| languages >> self.0 & 1 == 1);
        (is_word && !is_common).then(|| {
            let stem = fold(&Stemmer::create(kind.algorithm).stem(&lower));
            format!("{MARK}{}{MARK}{stem}", kind.code)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<&'static str> {
        Language::of(text).map(|language| LANGUAGES[usize::from(language.0)].code)
    }

    #[test]
    fn a_language_is_known_by_its_common_words() {
        for (text, known) in [
            ("Die Reiher nisten im Mai auf den alten Bäumen am See.", Some("de")),
            ("Les hérons nichent en mai dans les vieux arbres.", Some("fr")),
            ("Las garzas anidan en mayo en los árboles del lago.", Some("es")),
            ("Gli aironi nidificano a maggio sugli alberi del lago.", Some("it")),
            ("As garças fazem ninho em maio nas árvores do lago.", Some("pt")),
            ("De reigers broeden in mei in de oude bomen van het park.", Some("nl")),
            ("Цапли гнездятся в мае на старых деревьях, и это не ново.", Some("ru")),
            ("Οι ερωδιοί φωλιάζουν τον Μάιο στα δέντρα της λίμνης.", Some("el")),
            ("Haikarat pesivät toukokuussa ja ne ovat jo täällä.", Some("fi")),
            ("The herons nest in May in the old trees by the lake.", None),
            ("I was in Die, a small town; it is old and the river is green.", None),
            ("Heron", None),
            ("", None),
            ("黒猫が好きです", None),
        ] {
            assert_eq!(code(text), known, "{text}");
        }
    }

    #[test]
    fn forms_of_a_word_have_one_stem_in_their_language() {
        for (code, forms) in [
            ("de", &["Reiher", "Reihern", "Reihers"][..]),
            ("fr", &["arbre", "arbres", "l\u{2019}arbre"]),
            ("es", &["árbol", "árboles"]),
            ("ru", &["дерево", "дерева"]),
        ] {
            let place = LANGUAGES.iter().position(|kind| kind.code == code).unwrap();
            let language = Language(u8::try_from(place).unwrap());
            let stems: Vec<_> = forms.iter().map(|form| language.stem(form).unwrap()).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
            assert!(stems[0].starts_with('\u{1}'));
            assert_eq!(Language::numbered(Language::number(Some(language))), Some(language));
        }
        assert_eq!((Language::numbered(0), Language::numbered(200), Language::number(None)), (None, None, 0));
    }

    #[test]
    fn what_is_common_short_or_no_word_has_no_stem() {
        let german = Language(0);
        for word in ["und", "am", "10", "b2b", "a-b"] {
            assert_eq!(german.stem(word), None, "{word}");
        }
    }
}
