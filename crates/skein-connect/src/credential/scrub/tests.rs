//! No spelling of a secret survives, wherever the pieces of a stream are cut.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};
use serde_json::json;

use std::collections::BTreeSet;

use super::*;

const KEY: &str = "sk-Canary/1+2 é\"?";

fn scrubber(secret: &str) -> Scrubber {
    Scrubber::new([secret.as_bytes()])
}

fn streamed(scrubber: &Scrubber, text: &[u8], cuts: &[usize]) -> Vec<u8> {
    let mut stream = scrubber.stream();
    let mut passed = Vec::new();
    let mut done = 0;
    for cut in cuts.iter().map(|cut| cut % (text.len() + 1)).collect::<BTreeSet<_>>() {
        passed.extend(stream.push(&text[done..cut]));
        done = cut;
    }
    passed.extend(stream.push(&text[done..]));
    passed.extend(stream.finish());
    passed
}

#[test]
fn every_spelling_is_taken_out() {
    let percent = "sk-Canary%2F1%2B2%20%C3%A9%22%3F";
    let json = r#"sk-Canary/1+2 é\"?"#;
    let spellings = [
        KEY,
        json,
        &json.replace('/', "\\/"),
        &json.replace('é', "\\u00e9"),
        percent,
        &percent.replace("%2F", "%2f").replace("%2B", "%2b").replace("%C3%A9", "%c3%a9").replace("%3F", "%3f"),
        &percent.replace("%20", "+"),
    ];
    for spelling in spellings {
        assert_eq!(scrubber(KEY).text(&format!("a {spelling} b")), format!("a {MARK} b"), "{spelling}");
    }
}

#[test]
fn escapes_of_any_kind_are_taken_out() {
    let key = "aB3=+/\"<&>é😀_";
    for spelling in [
        "aB3\\u003d\\u002B\\/\\\"\\u003C\\u0026\\u003e\\u00E9\\uD83D\\uDe00_",
        "aB3\\u{3d}\\x2b\\057\\x22<&>é😀_",
        "aB3&equals;&plus;&sol;&quot;&lt;&amp;&gt;&#233;&#x1F600;&lowbar;",
        "aB3&#61&#x2B;&#047;&QUOT;&lt&amp&gt;&#xE9;&#128512;_",
        "%61B3%3d%2B%2f%22%3C%26%3E%C3%a9%F0%9F%98%80_",
        "aB3%u003D%2B/\"<&>%u00e9😀_",
        "aB3%253D%252B%252f%2522%253C%2526%253E%25C3%25A9%25F0%259F%2598%2580_",
        "aB3&amp;#61;&#38;plus;/&amp;quot;&amp;lt;&amp;amp;&amp;gt;é😀_",
        "aB3\\\\u003d+\\\\\\/\\\\\\\"<\\\\u0026>é😀_",
        "AB3=+/\"<&>é😀_",
        "ab3\\u003D+/\"<&amp;>é😀_",
    ] {
        assert_eq!(scrubber(key).text(&format!("({spelling})")), format!("({MARK})"), "{spelling}");
    }
    assert_eq!(scrubber("two words").text("(two+words, two%20words)"), format!("({MARK}, {MARK})"));
    for other in ["aB3=+/\"<&>é😀", "aB3\\u003e+/\"<&>é😀_", "aB3&#61;+/\"&lt&ampgt;é😀_"] {
        assert_eq!(scrubber(key).text(other), other);
    }
}

#[test]
fn hexadecimal_is_taken_out_in_either_case_and_with_separators() {
    let lower = "736b2d43616e617279";
    let upper = lower.to_uppercase();
    let with = |separator: &str| {
        let pairs: Vec<&str> = (0..lower.len()).step_by(2).map(|at| &lower[at..at + 2]).collect();
        pairs.join(separator)
    };
    for spelling in [lower, &upper, &with(":"), &with(" "), &with("-"), &with("\r\n")] {
        assert_eq!(scrubber("sk-Canary").text(&format!("({spelling})")), format!("({MARK})"), "{spelling}");
    }
}

#[test]
fn base64_is_taken_out_over_lines_and_escaped() {
    let key = "sk-Canary>>>???~~~with+a/long=tail";
    let encoded = STANDARD.encode(key);
    assert!(encoded.contains('+') && encoded.contains('/'), "{encoded}");
    let (first, second) = encoded.split_at(20);
    let escaped = encoded.replace('+', "\\u002b").replace('/', "\\/");
    let percent = encoded.replace('+', "%2B").replace('/', "%2f");
    for spelling in [format!("{first}\r\n{second}"), format!("{first}\\n{second}"), escaped, percent] {
        let scrubbed = scrubber(key).text(&spelling).into_owned();
        assert!(scrubbed.starts_with(MARK) && scrubbed.len() <= MARK.len() + 4, "{spelling}: {scrubbed}");
    }
}

#[test]
fn unusual_escapes_are_taken_out() {
    let key = "sk-Can&ry=/Q9+<x>zz\"01";
    let each = |spelled: fn(u32) -> String| key.chars().map(|character| spelled(character.into())).collect::<String>();
    for spelling in [
        each(|number| format!("&#{number:012};")),
        each(|number| format!("&#x{number:020x};")),
        key.replace('&', "&amp").replace('<', "&lt").replace('>', "&gt").replace('"', "&quot"),
        each(|number| format!("\\U{number:08x}")),
        each(|number| format!("\\u{{{number:012x}}}")),
        each(|number| format!("\\x{{{number:x}}}")),
        each(|number| format!("\\{number:o}")),
        each(|number| format!("\\{number:03o}")),
        each(|number| format!("\\{number:x} ")),
        each(|number| format!("\\{number:X}\r\n")),
        each(|number| format!("\\{number:06x}")),
        each(|number| format!("\\\\{number:x} ")),
    ] {
        assert_eq!(scrubber(key).text(&format!("({spelling})")), format!("({MARK})"), "{spelling}");
    }
}

#[test]
fn a_secret_that_is_folded_is_taken_out() {
    let key = "sk-Canary>>>???~~~with+a/long=tail";
    let folded = |text: &str, fold: &str| {
        let lines: Vec<&str> = (0..text.len()).step_by(10).map(|at| &text[at..text.len().min(at + 10)]).collect();
        lines.join(fold)
    };
    let hex: String = key.bytes().flat_map(|byte| format!("{byte:02x}").into_bytes()).map(char::from).collect();
    for spelling in [
        folded(key, "\r\n"),
        folded(key, "%0D%0A"),
        folded(&STANDARD.encode(key), "\r\n        "),
        folded(&STANDARD.encode(key), "\n\t"),
        folded(&STANDARD.encode(key), " "),
        folded(&URL_SAFE.encode(key), "\\n    "),
        folded(&hex, "\n\t\t  "),
        folded(&hex, ", "),
    ] {
        let scrubbed = scrubber(key).text(&spelling).into_owned();
        assert!(scrubbed.starts_with(MARK) && scrubbed.len() <= MARK.len() + 4, "{spelling}: {scrubbed}");
    }
}

/// Secrets of 8 KiB and large bodies in which nearly every place begins them, whole or read in another way.
const SELF_SIMILAR: [(&str, &str, &str); 9] = [
    ("a", "b", "a"),
    ("ab", "c", "ab"),
    ("aab", "c", "aab"),
    ("a", "b", "%61"),
    ("a", "b", "a%61"),
    ("a", "b", "\\u0061\\61 "),
    ("\\", "b", "\\"),
    ("+ ", "b", "+"),
    ("%25", "b", "%25"),
];

fn repeating(piece: &str, bytes: usize, end: &str) -> String {
    format!("{}{end}", piece.repeat(bytes / piece.len()))
}

#[test]
fn the_work_is_linear_in_the_text_however_the_secret_repeats_itself() {
    for (unit, end, piece) in SELF_SIMILAR {
        let scrubber = scrubber(&repeating(unit, 8_000, end));
        let text = repeating(piece, 200_000, "");
        let mut whole = scrubber.stream();
        whole.push(text.as_bytes());
        whole.finish();
        assert!(whole.steps <= 40 * text.len(), "{unit} in {piece}: {} steps", whole.steps / text.len());
        assert!(!whole.has_found(), "{unit} in {piece}");
        let mut cut = scrubber.stream();
        text.as_bytes().chunks(3).for_each(|piece| drop(cut.push(piece)));
        assert!(cut.steps <= 40 * text.len(), "{unit} in {piece}, in pieces: {} steps", cut.steps / text.len());
    }
}

#[test]
fn a_secret_that_repeats_itself_is_taken_out_of_a_text_that_does() {
    for (unit, end, piece) in SELF_SIMILAR {
        let secret = repeating(unit, 8_000, end);
        let before = repeating(piece, 60_000, "");
        let scrubbed = scrubber(&secret).text(&format!("{before}{secret} {secret}.")).into_owned();
        assert!(scrubbed.ends_with(&format!("{MARK} {MARK}.")), "{unit} in {piece}");
        assert!(!scrubbed.contains(&secret) && scrubbed.len() > 20_000, "{unit} in {piece}");
    }
}

/// Each `%41` is an `A`, and its last digit may be the beginning of the secret.
#[test]
fn the_rest_of_a_text_with_too_many_readings_is_withheld() {
    let secret = repeating("A", 8_000, "b").replacen('A', "1", 1);
    let text = format!("before {}{} after", "%41".repeat(20_000), secret);
    let scrubber = scrubber(&secret);
    let mut stream = scrubber.stream();
    let passed = [stream.push(text.as_bytes()), stream.push(b"more"), stream.finish()].concat();
    assert_eq!(String::from_utf8_lossy(&passed), format!("before %4{MARK}"));
    assert!(stream.has_found() && stream.steps <= 40 * text.len(), "{}", stream.steps);
    assert_eq!(scrubber.text(&text), format!("before %4{MARK}"));
}

#[test]
fn large_bodies_that_almost_hold_a_secret_pass_unchanged() {
    let key = "aaaaaaaaaaaaaaaaaaaaaaaab";
    for piece in ["a", "\\", "%25", "&amp;", "&#", "\\u0061", "61 "] {
        let body = piece.repeat(30_000 / piece.len());
        assert!(matches!(scrubber(key).text(&body), Cow::Borrowed(_)), "{piece}");
    }
}

#[test]
fn base64_is_taken_out_at_every_alignment() {
    for before in ["", "u", "us", "use", "user:"] {
        for after in ["", "x", "xy", "xyz"] {
            let whole = format!("{before}{KEY}{after}");
            for encoded in [STANDARD.encode(&whole), URL_SAFE.encode(&whole)] {
                let scrubbed = scrubber(KEY).text(&encoded).into_owned();
                assert!(scrubbed.contains(MARK), "{before} {after} {scrubbed}");
                assert!(scrubbed.len() < MARK.len() + encoded.len() - KEY.len(), "{scrubbed}");
            }
        }
    }
}

#[test]
fn what_holds_no_secret_is_not_copied() {
    assert!(matches!(scrubber(KEY).bytes(b"sk-Canary/1+"), Cow::Borrowed(b"sk-Canary/1+")));
    assert!(matches!(Scrubber::default().text("anything"), Cow::Borrowed("anything")));
}

#[test]
fn the_longer_of_two_secrets_is_taken_whole() {
    let scrubber = Scrubber::new([b"token".as_slice(), b"token-and-more", b"abc"]);
    assert_eq!(scrubber.text("x token-and-more token abc"), format!("x {MARK} {MARK} abc"));
    for cut in 0..20 {
        let passed = streamed(&scrubber, b"x token-and-more y", &[cut]);
        assert_eq!(String::from_utf8(passed).unwrap(), format!("x {MARK} y"));
    }
}

#[test]
fn json_is_scrubbed_in_texts_and_names() {
    let mut value = json!({"a": ["x", KEY, 1, null], KEY: {"b": format!("Bearer {KEY}")}});
    assert!(scrubber(KEY).json(&mut value));
    assert_eq!(value, json!({"a": ["x", MARK, 1, null], MARK: {"b": format!("Bearer {MARK}")}}));
    assert!(!scrubber(KEY).json(&mut value));
}

#[test]
fn a_key_of_digits_is_taken_out_where_it_is_a_number() {
    for key in ["90210", "-48151623", "20261115.0730", "123456789012345678901234567890"] {
        let mut value: Value = serde_json::from_str(&format!(r#"{{"a": [{key}, 7], "b": "{key}"}}"#)).unwrap();
        assert!(scrubber(key).json(&mut value), "{key}");
        assert_eq!(value, json!({"a": [MARK, 7], "b": MARK}));
        assert!(!scrubber(key).json(&mut value));
    }
}

#[test]
fn a_stream_holds_back_only_what_may_begin_a_secret() {
    let mut stream = scrubber("secret-key").stream();
    assert_eq!(stream.push(b"data: hello\n"), b"data: hello\n");
    assert_eq!(stream.push(b"se"), b"");
    assert_eq!(stream.push(b"ven"), b"seven");
    assert_eq!(stream.push(b"the sec"), b"the ");
    assert_eq!(stream.push(b"ret-key."), format!("{MARK}.").as_bytes());
    assert!(stream.has_found());
    assert_eq!(stream.push(b"sec"), b"");
    assert_eq!(stream.finish(), b"sec");
}

fn secret() -> impl Strategy<Value = String> {
    prop::string::string_regex("[ -~é]{4,40}").expect("a plain pattern")
}

/// Spells a character in one of the ways services do.
fn spelled(character: char, way: u8) -> String {
    let number = u32::from(character);
    let percent = |upper: bool| {
        let byte = |byte: &u8| if upper { format!("%{byte:02X}") } else { format!("%{byte:02x}") };
        character.to_string().as_bytes().iter().map(byte).collect::<String>()
    };
    match way % 12 {
        0 => format!("\\u{number:04x}"),
        1 => format!("\\u{number:04X}"),
        2 => format!("&#{number};"),
        3 => format!("&#x{number:x};"),
        4 => format!("&#X00{number:X};"),
        5 => percent(true),
        6 => percent(false),
        7 => percent(true).replace('%', "%25"),
        8 => format!("&amp;#{number};"),
        9 => format!("\\\\u{number:04x}"),
        _ => character.to_string(),
    }
}

proptest! {
    /// Whatever the mixture of spellings, and wherever a stream is cut, one mark stands for the secret.
    #[test]
    fn no_mixture_of_spellings_lets_a_secret_through(
        secret in "[ -;=?-~é]{4,24}", ways in prop::collection::vec(any::<u8>(), 24),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let spelled: String = secret.chars().zip(ways).map(|(character, way)| spelled(character, way)).collect();
        let text = format!("<{spelled}>");
        let passed = String::from_utf8(streamed(&scrubber(&secret), text.as_bytes(), &cuts)).unwrap();
        prop_assert_eq!(&passed, &format!("<{MARK}>"), "{}", text);
    }

    #[test]
    fn no_cut_lets_a_secret_through(
        secret in secret(), before in ".{0,20}", after in ".{0,20}", cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let scrubber = scrubber(&secret);
        let percent: String = secret.bytes().flat_map(|byte| format!("%{byte:02X}").into_bytes()).map(char::from).collect();
        for spelling in [secret.clone(), percent, STANDARD.encode(&secret), URL_SAFE.encode(&secret)] {
            let text = format!("{before}{spelling}{after}");
            let passed = streamed(&scrubber, text.as_bytes(), &cuts);
            prop_assert!(!String::from_utf8_lossy(&passed).contains(&spelling) || MARK.contains(&spelling));
            prop_assert_eq!(passed, scrubber.bytes(text.as_bytes()).into_owned());
        }
    }

    #[test]
    fn what_holds_no_secret_passes_unchanged(text in "[a-m]{0,60}", cuts in prop::collection::vec(any::<usize>(), 0..8)) {
        let scrubber = scrubber("nopq-rstu");
        prop_assert_eq!(streamed(&scrubber, text.as_bytes(), &cuts), text.as_bytes());
    }
}
