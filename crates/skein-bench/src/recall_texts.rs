//! Generates the episodes and questions of the recall benchmark, the same in every pass.
//!
//! How often a word stands there follows Zipf's law: first the words that tell nothing, then common English ones, then tens of
//! thousands that are made up, as names of things are. Now and then somebody is named.

use std::sync::LazyLock;

use crate::notes::Random;

/// How many different words there are; the made-up ones follow the lists.
const WORDS: f64 = 50_000.0;
const WORDS_PER_EPISODE: std::ops::Range<u64> = 6..35;
/// One word in so many is somebody's name.
const NAMED_EVERY: u64 = 25;
/// Those of the names who speak.
const SPEAKERS: usize = 12;
/// Words of a question.
const ASKED_WORDS: std::ops::Range<usize> = 2..9;

/// Words that tell nothing. Questions have none of them: an index that keeps no list of its own reads everything for each.
const TELLING_NOTHING: &str = "the to and of a in i is that it for you was with on as have but be they are not this we at had \
    my or from by which so what all would about if when there their can more her has one will out who some up";

/// The commonest first.
const COMMON: &str = "time people year day way thing man world life hand part child eye woman place work week case point \
    house water room mother area money story fact month lot right study book job word business issue side kind head friend \
    father power hour game line end member law car city community name president team minute idea body information back \
    parent face level office door health person art war history party result change morning reason research girl guy moment \
    air teacher force education foot boy age policy music market sense nation plan college interest death experience effect \
    class control care field development role effort rate heart drug show leader light voice wife police mind price report \
    decision son view relationship town road arm difference value building action season society tax director position \
    player record paper space ground form event official matter center couple site project activity star table need court \
    oil situation cost industry figure street image phone data picture practice piece land product doctor wall patient \
    worker news test movie north love step letter support garden tree summer winter coffee kitchen dinner bread cheese \
    apple river lake mountain forest island beach storm snow rain cloud bird goose heron horse dog cat fish train ticket \
    station airport flight hotel journey map bridge boat bicycle engine wheel key window roof chair lamp blanket pillow coat \
    shoe pocket watch ring gift birthday wedding holiday festival song guitar piano drum dance theatre museum painting \
    camera photograph poem novel library page sentence question answer lesson exam school student language grammar \
    science experiment laboratory theory number equation computer keyboard screen program server database backup password \
    meeting agenda deadline contract invoice budget salary bank loan insurance lawyer judge witness neighbour landlord \
    apartment furniture carpet painter plumber electrician carpenter hammer ladder nail brick stone sand metal silver gold \
    copper glass cotton wool silk yarn needle thread pattern colour green yellow purple orange brown quiet gentle sudden \
    narrow ancient modern bright heavy hollow hungry nervous proud stubborn curious careful forget remember promise \
    borrow return repair climb swim travel arrive leave choose measure compare explain describe imagine discover invent \
    harvest plant water paint cook bake wash clean visit invite celebrate argue apologise forgive complain worry hope";

const NAMES: &str = "Ann Ben Clara David Emma Felix Grace Henry Ida Jonas Kate Liam Maria Noah Olga Paul Quentin Rosa Simon Tara \
    Ulrich Vera Walter Xenia Yusuf Zoe Amara Bruno Celia Dmitri Elena Farid Greta Hugo Ingrid Jamal Keiko Lucia Mateo Nadia \
    Oscar Petra Rafael Sofia Tomas Ursula Viktor Wanda Ximena Yvonne Zahra Anders Bianca Conrad Dalia Emil Fatima Gustav Hanna";

const SYLLABLES: [&str; 24] = [
    "ka", "to", "mi", "ren", "sol", "va", "ner", "lin", "do", "pas", "ter", "ga", "hu", "bel", "ori", "sta", "wen",
    "fi", "lum", "cro", "yan", "dep", "ix", "quo",
];

static LISTED: LazyLock<Vec<&str>> =
    LazyLock::new(|| TELLING_NOTHING.split_whitespace().chain(COMMON.split_whitespace()).collect());
static FIRST_TELLING: LazyLock<usize> = LazyLock::new(|| TELLING_NOTHING.split_whitespace().count());
static NAMED: LazyLock<Vec<&str>> = LazyLock::new(|| NAMES.split_whitespace().collect());

/// An episode: who says it, and what.
pub(crate) struct EpisodeText {
    pub(crate) speaker: &'static str,
    pub(crate) text: String,
}

impl EpisodeText {
    pub(crate) fn of(number: usize) -> Self {
        let (speaker, words) = words_of(number);
        let texts: Vec<String> = words.into_iter().map(Word::text).collect();
        Self { speaker, text: texts.join(" ") }
    }
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Words of a text as they stand there.
    Drawn,
    /// Some of the commonest words that tell anything.
    Frequent,
    /// The rarest words of a text.
    Rare,
    /// A name, and words of a text.
    Named,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Drawn, Self::Frequent, Self::Rare, Self::Named];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Drawn => "as drawn",
            Self::Frequent => "frequent",
            Self::Rare => "rare",
            Self::Named => "named",
        }
    }
}

pub(crate) struct Question {
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

/// So many questions about the first `episodes` episodes, of all kinds in turn.
pub(crate) fn questions(count: usize, episodes: usize) -> Vec<Question> {
    let mut random = Random::seeded(usize::MAX >> 32);
    Kind::ALL.into_iter().cycle().take(count).map(|kind| question(kind, episodes, &mut random)).collect()
}

fn question(kind: Kind, episodes: usize, random: &mut Random) -> Question {
    let (_, words) = words_of(below(random, episodes));
    let mut telling: Vec<Word> = words.into_iter().filter(Word::tells).collect();
    let count = ASKED_WORDS.start + below(random, ASKED_WORDS.len());
    let common = *FIRST_TELLING..LISTED.len();
    match kind {
        Kind::Drawn => {}
        Kind::Frequent => {
            telling = (0..count).map(|_| Word::Ranked(common.start + below(random, common.len()))).collect();
        }
        Kind::Rare => telling.sort_by_key(|word| std::cmp::Reverse(word.rank())),
        Kind::Named => telling.insert(0, Word::Name(below(random, NAMED.len()))),
    }
    // A short text may say next to nothing.
    let missing = ASKED_WORDS.start.saturating_sub(telling.len());
    telling.extend((0..missing).map(|_| Word::Ranked(common.start + below(random, common.len()))));
    let texts: Vec<String> = telling.into_iter().take(count).map(Word::text).collect();
    Question { kind, text: texts.join(" ") }
}

/// Who speaks, and the words of an episode.
fn words_of(number: usize) -> (&'static str, Vec<Word>) {
    let mut random = Random::seeded(number);
    let speaker = NAMED[below(&mut random, SPEAKERS)];
    let count = WORDS_PER_EPISODE.start + random.below(WORDS_PER_EPISODE.end - WORDS_PER_EPISODE.start);
    let draw = |_| match random.below(NAMED_EVERY) {
        0 => Word::Name(below(&mut random, NAMED.len())),
        _ => Word::draw(&mut random),
    };
    (speaker, (0..count).map(draw).collect())
}

fn below(random: &mut Random, bound: usize) -> usize {
    usize::try_from(random.below(bound as u64)).expect("it is below a usize")
}

enum Word {
    /// The commonest have the lowest rank.
    Ranked(usize),
    Name(usize),
}

impl Word {
    /// By Zipf's law: the logarithm of a rank is even.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ranks are whole and few")]
    fn draw(random: &mut Random) -> Self {
        let even = f64::from((random.next() >> 32) as u32) / f64::from(u32::MAX);
        Self::Ranked(WORDS.powf(even) as usize - 1)
    }

    fn tells(&self) -> bool {
        self.rank() >= *FIRST_TELLING
    }

    fn rank(&self) -> usize {
        match self {
            Self::Ranked(rank) => *rank,
            Self::Name(_) => LISTED.len(),
        }
    }

    fn text(self) -> String {
        let rank = match self {
            Self::Name(number) => return NAMED[number].to_owned(),
            Self::Ranked(rank) => rank,
        };
        if let Some(listed) = LISTED.get(rank) {
            return (*listed).to_owned();
        }
        let mut rest = rank;
        let mut word = String::new();
        while rest > 0 {
            word.push_str(SYLLABLES[rest % SYLLABLES.len()]);
            rest /= SYLLABLES.len();
        }
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_says_the_same_in_every_run() {
        assert_eq!(EpisodeText::of(7).text, EpisodeText::of(7).text);
        assert_ne!(EpisodeText::of(7).text, EpisodeText::of(8).text);
        assert!((6..35).contains(&EpisodeText::of(7).text.split(' ').count()));
    }

    #[test]
    fn questions_have_words_that_tell_something() {
        let nothing: Vec<&str> = TELLING_NOTHING.split_whitespace().collect();
        let asked = questions(400, 1_000);
        for Question { kind, text } in &asked {
            let words: Vec<&str> = text.split(' ').collect();
            assert!(ASKED_WORDS.contains(&words.len()), "{kind:?}: {text}");
            assert!(words.iter().all(|word| !nothing.contains(word)), "{kind:?}: {text}");
        }
        let lengths: std::collections::BTreeSet<usize> =
            asked.iter().map(|question| question.text.split(' ').count()).collect();
        assert!(lengths.contains(&2) && lengths.contains(&8), "{lengths:?}");
    }

    #[test]
    fn common_words_stand_in_many_texts_and_rare_ones_in_few() {
        let texts: Vec<String> = (0..2_000).map(|number| EpisodeText::of(number).text).collect();
        let having = |word: &str| texts.iter().filter(|text| text.split(' ').any(|found| found == word)).count();
        assert!(having("the") > 1_000, "{}", having("the"));
        assert!((10..200).contains(&having("people")), "{}", having("people"));
        let rare = Word::Ranked(40_000).text();
        assert!(having(&rare) < 5, "{rare}");
    }
}
