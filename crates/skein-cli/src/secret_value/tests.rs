//! Each type takes its value in the forms people have it in; nothing of a value that is refused is repeated.

use std::collections::VecDeque;

use serde_json::json;

use super::*;
use crate::exit::Exit;

/// Answers in turn, and remembers what was asked.
struct ScriptedPerson {
    answers: VecDeque<&'static str>,
    asked: Vec<String>,
}

impl ScriptedPerson {
    fn answering(answers: &[&'static str]) -> Self {
        Self { answers: answers.iter().copied().collect(), asked: Vec::new() }
    }

    fn answer(&mut self, question: &str) -> &'static str {
        self.asked.push(question.to_owned());
        self.answers.pop_front().unwrap_or_else(|| panic!("{question} is one question too many"))
    }
}

impl Prompt for ScriptedPerson {
    fn line(&mut self, question: &str) -> Result<String, Failure> {
        Ok(self.answer(question).to_owned())
    }

    fn hidden(&mut self, question: &str) -> Result<Zeroizing<String>, Failure> {
        Ok(Zeroizing::new(self.answer(question).to_owned()))
    }
}

fn value(read: Result<SecretValue, Failure>) -> Value {
    serde_json::from_str(&read.unwrap_or_else(|failure| panic!("{failure}")).0).unwrap()
}

#[test]
fn a_text_becomes_the_value_of_its_type() {
    let check = |secret_type, username, text: &str, expected: Value| {
        assert_eq!(value(parse(secret_type, username, text)), expected, "{text}");
    };
    check(SecretType::ApiKey, None, "sk-\"1\"\n", json!("sk-\"1\""));
    check(SecretType::ApiKey, None, "sk-1\r\n", json!("sk-1"));
    check(SecretType::ApiKey, None, " {sk} ", json!(" {sk} "));
    check(SecretType::Password, Some("anna"), "p w", json!({ "username": "anna", "password": "p w" }));
    let object = r#" {"username": "anna", "password": "x"} "#;
    check(SecretType::Password, None, object, json!({ "username": "anna", "password": "x" }));
    check(SecretType::OauthToken, None, "t\n", json!({ "accessToken": "t" }));
    check(SecretType::OauthToken, None, r#"{"accessToken":"t"}"#, json!({ "accessToken": "t" }));
    check(SecretType::Certificate, None, r#"{"certificate":"c"}"#, json!({ "certificate": "c" }));
}

#[test]
fn what_cannot_be_a_value_is_refused_without_being_repeated() {
    for (secret_type, username, text) in [
        (SecretType::ApiKey, None, ""),
        (SecretType::ApiKey, None, "\n"),
        (SecretType::ApiKey, None, "hunter2\nhunter2"),
        (SecretType::ApiKey, Some("anna"), "hunter2"),
        (SecretType::Password, None, "hunter2"),
        (SecretType::Password, None, r#"{"password": "hunter2""#),
        (SecretType::Password, Some("anna"), ""),
        (SecretType::Certificate, None, "hunter2"),
        (SecretType::OauthToken, None, "{hunter2}"),
    ] {
        let Err(refused) = parse(secret_type, username, text) else { panic!("{text:?} was taken") };
        assert_eq!(refused.exit, Exit::Usage);
        assert!(!refused.to_string().contains("hunter2"), "{refused}");
    }
}

#[test]
fn more_than_a_secret_can_be_is_not_read() {
    let refused = |bytes: &[u8]| bounded(bytes).unwrap_err().to_string();
    assert!(refused(&b"x".repeat(VALUE_BYTES_MAX + 1)).contains("larger than 64 KiB"));
    assert!(refused(b"\xff").contains("UTF-8"));
    assert_eq!(bounded(&*b"x".repeat(VALUE_BYTES_MAX)).unwrap().len(), VALUE_BYTES_MAX);
}

#[test]
fn a_person_is_asked_twice_for_what_they_cannot_see() {
    let mut person = ScriptedPerson::answering(&["sk-1", "sk-1"]);
    assert_eq!(value(ask(SecretType::ApiKey, None, &mut person)), json!("sk-1"));
    assert_eq!(person.asked, ["API key: ", "API key again: "]);
    let password = json!({ "username": "anna", "password": "p" });
    assert_eq!(value(ask(SecretType::Password, None, &mut ScriptedPerson::answering(&["anna", "p", "p"]))), password);
    assert_eq!(value(ask(SecretType::Password, Some("anna"), &mut ScriptedPerson::answering(&["p", "p"]))), password);
}

#[test]
fn a_token_is_asked_for_with_what_renews_it_or_alone() {
    let alone = ask(SecretType::OauthToken, None, &mut ScriptedPerson::answering(&["t", "t", ""]));
    assert_eq!(value(alone), json!({ "accessToken": "t" }));
    let answers = ["t", "t", "r", "https://issuer/token", "me", "s", ""];
    let whole = ask(SecretType::OauthToken, None, &mut ScriptedPerson::answering(&answers));
    let expected = json!({
        "accessToken": "t", "refreshToken": "r", "tokenUrl": "https://issuer/token", "clientId": "me",
        "clientSecret": "s",
    });
    assert_eq!(value(whole), expected);
}

#[test]
fn answers_that_differ_or_are_empty_are_refused() {
    for (secret_type, answers) in [
        (SecretType::ApiKey, &["hunter2", "hunter3"][..]),
        (SecretType::ApiKey, &[""]),
        (SecretType::Password, &[""]),
        (SecretType::Certificate, &[]),
    ] {
        let Err(refused) = ask(secret_type, None, &mut ScriptedPerson::answering(answers)) else {
            panic!("it was taken")
        };
        assert_eq!(refused.exit, Exit::Usage);
        assert!(!refused.to_string().contains("hunter"), "{refused}");
    }
}

#[test]
fn certificates_come_from_pem_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (certificate, key) = ("-----BEGIN CERTIFICATE-----\nx\n", "-----BEGIN PRIVATE KEY-----\ny\n");
    let pem = |certificate, private_key| ValueSource::Pem { certificate, private_key, ca: None };
    let source = pem(file("c", certificate), file("k", key));
    let expected = json!({ "certificate": certificate, "privateKey": key });
    assert_eq!(value(read(SecretType::Certificate, &source)), expected);
    assert!(read(SecretType::ApiKey, &source).is_err());
    assert!(read(SecretType::Certificate, &pem(file("c", certificate), file("d", "der"))).is_err());
    assert!(read(SecretType::Certificate, &pem(file("c", certificate), folder.path().join("none"))).is_err());
}

#[test]
fn the_value_joins_the_other_fields_and_is_not_shown() {
    let body = |fields: Value| {
        let Value::Object(fields) = fields else { panic!("no object") };
        SecretBody::new(&fields, &api_key_value("hunter2"))
    };
    let whole = body(json!({ "name": "a}", "type": "api_key" }));
    let sent: Value = serde_json::from_slice(&whole.bytes()).unwrap();
    assert_eq!(sent, json!({ "name": "a}", "type": "api_key", "value": "hunter2" }));
    assert_eq!(*body(json!({})).bytes(), *br#"{"value":"hunter2"}"#);
    assert!(!format!("{whole:?}").contains("hunter2"));
}
