//! Guesses what a person wants from how they say it.
//!
//! Only forms of asking are known here, never matters: what a question is about is for `relevance.rs`. A form that is
//! not recognised is a question when it asks and a statement when it tells, so a wrong guess costs little.

use super::words::{plain_words, stemmed};

/// The longest request that is looked at for set phrases, in words.
const PHRASE_WORDS_MAX: usize = 16;
/// A question without its mark is short.
const UNMARKED_QUESTION_WORDS_MAX: usize = 14;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    Greeting,
    Thanks,
    Farewell,
    Assent,
    Identity,
    Abilities,
    ConnectModel,
    Privacy,
    AboutSkein,
    Summary,
    Recollection,
    Tasks,
    WhoAmI,
    FirstMessage,
    LastMessage,
    More,
    Making,
    Question,
    Statement,
}

const GREETINGS: &str = "hi hello hey heya hiya yo hallo hola bonjour salut ciao ola hej moin servus greetings howdy namaste \
    привет здравствуйте こんにちは 你好 您好 안녕하세요 안녕 مرحبا नमस्ते";
const BESIDE_GREETINGS: &str = "there skein all everyone again you good morning afternoon evening day guten tag morgen abend buenos \
    dias buenas tardes bom dia how are is it going up what whats today sup friend";
const THANKS: &str =
    "thanks thank thx ty danke gracias merci obrigado grazie cheers спасибо ありがとう 谢谢 감사합니다";
const FAREWELLS: &str = "bye goodbye ciao tschuss adios later cya farewell";
const ASSENTS: &str = "ok okay yes no yep nope yeah sure great cool nice good fine right see got it perfect alright understood hmm \
    wow interesting awesome i thats that ja nein oui si super excellent";
const QUESTION_WORDS: &str = "what who whom whose when where why how which is are was were do does did can could will would should has \
    have am whats whos wheres";
const REQUESTS: &str = "summarize summarise recap list find show tell explain describe quote search look remind give compare help \
    repeat define name";
const MAKINGS: &str = "write draft compose translate generate create code program implement rewrite rephrase improve fix correct \
    brainstorm invent imagine calculate compute draw design make plan suggest recommend proofread edit convert solve roleplay \
    play sing build";
const BEFORE_REQUESTS: &str = "please can could would you kindly now then and also so hey hi hello me help lets let us";
const WISHES: [&str; 4] = ["i want you to ", "i need you to ", "i would like you to ", "id like you to "];
const SUMMARY_STEMS: &str = "summary summarize summarise summarization tldr recap gist overview takeaway zusammenfassung resume \
    resumen synopsis outline";

const SUMMARY_PHRASES: [&str; 18] = [
    "sum up",
    "tl dr",
    "key point",
    "key points",
    "main point",
    "main points",
    "main idea",
    "main ideas",
    "in short",
    "what is this about",
    "what is it about",
    "what is this text about",
    "what does it say",
    "what does this say",
    "what did we talk about",
    "what have we talked about",
    "what is the document about",
    "fasse zusammen",
];
const ABILITY_PHRASES: [&str; 16] = [
    "what can you do",
    "what do you do",
    "how do you work",
    "how does this work",
    "what can i do",
    "what can i ask",
    "how can you help",
    "can you help me",
    "where do i start",
    "get started",
    "how do i use this",
    "how do i use you",
    "what is this",
    "how to use",
    "que puedes hacer",
    "was kannst du",
];
const IDENTITY_PHRASES: [&str; 19] = [
    "who are you",
    "what are you",
    "are you chatgpt",
    "are you gpt",
    "are you claude",
    "are you an ai",
    "are you a bot",
    "are you human",
    "are you a human",
    "are you real",
    "are you a real",
    "your name",
    "which model are you",
    "what model are you",
    "model is this",
    "model am i",
    "are you a language model",
    "wer bist du",
    "quien eres",
];
const PRIVACY_PHRASES: [&str; 15] = [
    "is this private",
    "are you private",
    "is it private",
    "leave my",
    "leaves my",
    "leaving my",
    "send my",
    "sent anywhere",
    "is my data",
    "are my data",
    "where is my data",
    "do you send",
    "are you online",
    "internet access",
    "are you offline",
];
const SKEIN_PHRASES: [&str; 4] = ["what is skein", "about skein", "how does skein", "why skein"];
const RECOLLECTION_PHRASES: [&str; 14] = [
    "what did i say",
    "what did i tell",
    "what have i told",
    "what do you know",
    "what do you remember",
    "what have i said",
    "what did i just",
    "what did i mention",
    "do you remember what",
    "everything i said",
    "everything i told",
    "what i said",
    "what i told you",
    "know about me",
];
const TASK_PHRASES: [&str; 10] = [
    "have to do",
    "need to do",
    "to do",
    "todo",
    "todos",
    "my tasks",
    "all tasks",
    "open tasks",
    "action items",
    "left to do",
];
const MORE_PHRASES: [&str; 12] = [
    "more",
    "tell me more",
    "go on",
    "continue",
    "what else",
    "anything else",
    "is that all",
    "and",
    "show more",
    "more please",
    "anything more",
    "keep going",
];

const CONNECT_VERBS: &str = "connect add use set setup configure switch plug enable choose select get install";
const MODEL_NOUNS: &str =
    "model models llm openai gpt chatgpt claude anthropic ollama openrouter llama key provider gemini mistral";
const CONNECT_FORMS: &str = "how where can i want real another better proper connect add";

/// What this request wants.
pub(super) fn intent(request: &str) -> Intent {
    let words = plain_words(request);
    if words.is_empty() {
        return Intent::Statement;
    }
    small_talk(&words).or_else(|| about_the_model(&words)).or_else(|| about_the_conversation(&words)).unwrap_or_else(
        || match () {
            () if is_making(&words) => Intent::Making,
            () if is_asking(request) => Intent::Question,
            () => Intent::Statement,
        },
    )
}

/// Whether a sentence asks or requests something, rather than telling it.
pub(super) fn is_asking(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(['"', '”', '»', ')', '*', '_', ' ']);
    if end.ends_with(['?', '？', '؟']) || ["か。", "か", "吗", "吗。", "呢"].iter().any(|mark| end.ends_with(mark))
    {
        return true;
    }
    let words = plain_words(sentence);
    let is_unmarked =
        !end.ends_with(['.', '!', ':']) && words.len() <= UNMARKED_QUESTION_WORDS_MAX && !sentence.contains(',');
    let opens_as_question = words.first().is_some_and(|first| is_one_of(QUESTION_WORDS, first));
    (is_unmarked && opens_as_question) || is_requesting(&words) || is_summary(&words) && words.len() <= PHRASE_WORDS_MAX
}

/// Whether it only points back and names nothing itself.
pub(super) fn points_back(request: &str) -> bool {
    let pronouns = "it its he him his she her hers they them their that this those these there then one";
    let words = plain_words(request);
    words.first().is_some_and(|first| first == "and") || words.iter().any(|word| is_one_of(pronouns, word))
}

/// Whether all that fits is wanted, not only the best.
pub(super) fn wants_all(request: &str) -> bool {
    let words = plain_words(request);
    let asks_for_many = words.iter().any(|word| is_one_of("all every everything everyone list everybody", word));
    asks_for_many || words.windows(2).any(|pair| pair[0] == "what" && pair[1] == "are")
}

/// A number of sentences or points the person asks for.
pub(super) fn wanted_count(request: &str) -> Option<usize> {
    let numbers = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let words = plain_words(request);
    let counted = words.windows(2).find(|pair| {
        is_one_of("sentence sentences point points bullet bullets line lines quote quotes key main", &pair[1])
    })?;
    let spelled = numbers.iter().position(|number| *number == counted[0]).map(|at| at + 1);
    spelled.or_else(|| counted[0].parse().ok()).filter(|count| (1..=20).contains(count))
}

fn small_talk(words: &[String]) -> Option<Intent> {
    let first = words.first()?;
    let all_of = |list: &str| words.iter().all(|word| is_one_of(list, word));
    let greets = |word: &String| is_one_of(GREETINGS, word) || is_one_of(BESIDE_GREETINGS, word);
    // Some scripts are cut into single characters.
    let whole = words.concat();
    if is_one_of(GREETINGS, &whole) {
        return Some(Intent::Greeting);
    }
    let has_greeting = words.iter().any(|word| is_one_of(GREETINGS, word))
        || says(words, &["good morning", "good afternoon", "good evening", "guten tag", "how are you", "buenos dias"]);
    if has_greeting && words.iter().all(greets) {
        return Some(Intent::Greeting);
    }
    if (words.len() <= 6 && is_one_of(THANKS, first)) || is_one_of(THANKS, &whole) {
        return Some(Intent::Thanks);
    }
    if words.len() <= 4 && (is_one_of(FAREWELLS, first) || says(words, &["see you", "good night"])) {
        return Some(Intent::Farewell);
    }
    (words.len() <= 5 && all_of(ASSENTS)).then_some(Intent::Assent)
}

fn about_the_model(words: &[String]) -> Option<Intent> {
    if words.len() > PHRASE_WORDS_MAX {
        return None;
    }
    let any_of = |list: &str| words.iter().any(|word| is_one_of(list, word));
    let is_alone = |phrases: &[&str]| says(words, phrases) && words.len() <= 9;
    if any_of(CONNECT_VERBS) && any_of(MODEL_NOUNS) && any_of(CONNECT_FORMS) && !any_of("we did was were he she they") {
        return Some(Intent::ConnectModel);
    }
    if is_alone(&IDENTITY_PHRASES) {
        return Some(Intent::Identity);
    }
    if is_alone(&ABILITY_PHRASES) && !says(words, &["what is this about", "what is this text"])
        || words == ["help"]
        || words == ["hilfe"]
    {
        return Some(Intent::Abilities);
    }
    if is_alone(&SKEIN_PHRASES) {
        return Some(Intent::AboutSkein);
    }
    says(words, &PRIVACY_PHRASES).then_some(Intent::Privacy)
}

fn about_the_conversation(words: &[String]) -> Option<Intent> {
    if words.len() > 2 * PHRASE_WORDS_MAX {
        return None;
    }
    if is_summary(words) {
        return Some(Intent::Summary);
    }
    if says(words, &TASK_PHRASES) && words.len() <= PHRASE_WORDS_MAX {
        return Some(Intent::Tasks);
    }
    if says(words, &["who am i"]) {
        return Some(Intent::WhoAmI);
    }
    if says(words, &["first message", "first question", "first thing i", "said first", "say first", "asked first"]) {
        return Some(Intent::FirstMessage);
    }
    if says(
        words,
        &["last message", "previous message", "last thing i", "did i just say", "last question", "previous question"],
    ) {
        return Some(Intent::LastMessage);
    }
    if MORE_PHRASES.iter().any(|phrase| words.join(" ") == *phrase) {
        return Some(Intent::More);
    }
    says(words, &RECOLLECTION_PHRASES).then_some(Intent::Recollection)
}

fn is_summary(words: &[String]) -> bool {
    let stems: Vec<String> = SUMMARY_STEMS.split(' ').map(stemmed).collect();
    words.iter().any(|word| stems.contains(&stemmed(word))) || says(words, &SUMMARY_PHRASES)
}

fn is_requesting(words: &[String]) -> bool {
    request_verb(words).is_some_and(|verb| is_one_of(REQUESTS, verb) || is_one_of(MAKINGS, verb))
}

fn is_making(words: &[String]) -> bool {
    request_verb(words).is_some_and(|verb| is_one_of(MAKINGS, verb))
}

/// The first word that is not politeness.
fn request_verb(words: &[String]) -> Option<&String> {
    let said = words.join(" ");
    let wish = WISHES.iter().find(|wish| said.starts_with(**wish)).map_or(0, |wish| wish.split_whitespace().count());
    words[wish..].iter().find(|word| !is_one_of(BEFORE_REQUESTS, word) || is_one_of(REQUESTS, word))
}

fn says(words: &[String], phrases: &[&str]) -> bool {
    let said = format!(" {} ", words.join(" "));
    phrases.iter().any(|phrase| said.contains(&format!(" {phrase} ")))
}

fn is_one_of(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|each| each == word)
}

#[cfg(test)]
mod tests {
    use super::{Intent, intent, is_asking, wanted_count};

    #[test]
    fn forms_of_asking_are_told_apart() {
        let cases = [
            ("Hi there!", Intent::Greeting),
            ("Good morning", Intent::Greeting),
            ("你好", Intent::Greeting),
            ("Hello, how are you?", Intent::Greeting),
            ("thanks a lot!", Intent::Thanks),
            ("ok got it", Intent::Assent),
            ("Who are you?", Intent::Identity),
            ("What can you do?", Intent::Abilities),
            ("How do I connect a real model?", Intent::ConnectModel),
            ("I want to use Claude", Intent::ConnectModel),
            ("Which model did we choose for the classifier?", Intent::Question),
            ("Is my data sent anywhere?", Intent::Privacy),
            ("Summarize our conversation", Intent::Summary),
            ("tl;dr", Intent::Summary),
            ("What is this about?", Intent::Summary),
            ("What do you know about me?", Intent::Recollection),
            ("What do I have to do?", Intent::Tasks),
            ("Who am I?", Intent::WhoAmI),
            ("What was my first message?", Intent::FirstMessage),
            ("tell me more", Intent::More),
            ("Write me a poem about the sea", Intent::Making),
            ("Could you please translate this", Intent::Making),
            ("When is the launch", Intent::Question),
            ("Tell me about whales.", Intent::Question),
            ("When I was young, the sea was nearer.", Intent::Statement),
            ("My name is Ana.", Intent::Statement),
            ("I make furniture for a living.", Intent::Statement),
            ("I like to plan ahead.", Intent::Statement),
        ];
        for (said, expected) in cases {
            assert_eq!(intent(said), expected, "{said}");
        }
    }

    #[test]
    fn sentences_that_ask_are_told_from_those_that_tell() {
        assert!(is_asking("名前は何ですか。") && is_asking("List the tasks") && is_asking("what about Bo"));
        assert!(!is_asking("What a day.") && !is_asking("The launch moved to March"));
    }

    #[test]
    fn a_wanted_number_is_heard() {
        assert_eq!(wanted_count("Summarize in three sentences"), Some(3));
        assert_eq!(wanted_count("5 bullet points please"), Some(5));
        assert_eq!(wanted_count("Summarize chapter 3"), None);
    }
}
