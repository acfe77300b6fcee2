//! No spelling of a secret survives, wherever the pieces of a stream are cut.

use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};
use serde_json::json;

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

proptest! {
    #[test]
    fn no_cut_lets_a_secret_through(
        secret in secret(), before in ".{0,20}", after in ".{0,20}", cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let scrubber = scrubber(&secret);
        let percent = String::from_utf8(percent_encoded(secret.as_bytes()).0).unwrap();
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
