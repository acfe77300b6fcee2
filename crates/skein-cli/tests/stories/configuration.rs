//! Settings from every layer, and what is made from the table of settings and arguments.

use std::fs;

use skein_testkit::process::Program;

use crate::server::{Home, SKEIN, finish};

fn line_of<'a>(out: &'a str, setting: &str) -> &'a str {
    out.lines().find(|line| line.split(' ').next() == Some(setting)).unwrap()
}

fn skein_with_file(folder: &std::path::Path, text: &str) -> Program {
    let file = folder.join("skein.toml");
    fs::write(&file, text).unwrap();
    Program::new(SKEIN).env("SKEIN_CONFIG", file)
}

#[test]
fn a_variable_that_is_no_setting_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let program = skein_with_file(folder.path(), "").env("SKEIN_DATABSE", "x").args(["config", "show"]);
    let finished = finish(program);
    assert!(finished.err.contains("warning: SKEIN_DATABSE is no setting"), "{}", finished.err);
    finished.assert_ok();
}

#[test]
fn doctor_says_what_is_wrong_with_the_configuration_and_looks_on() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    let program = skein_with_file(folder.path(), "lisen = 1\n");
    let finished = finish(program.args(["doctor", "--dir", home.dir.to_str().unwrap()]));
    assert_eq!(finished.code(), Some(1), "{}", finished.err);
    assert!(
        finished.out.contains("PROBLEM  configuration: ") && finished.out.contains("skein.toml:1"),
        "{}",
        finished.out
    );
    assert!(finished.out.contains("ok       database: "), "{}", finished.out);
}

#[test]
fn config_show_says_where_each_value_came_from_and_keeps_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let file = "log = \"warn\"\nlisten = \"127.0.0.1:1\"\nkey = \"sk_hidden\"\n";
    let layered = |words: &[&str]| {
        let program = skein_with_file(folder.path(), file).env("SKEIN_LOG", "info").env("SKEIN_DIR", "/from/variable");
        finish(program.args(words.iter().copied())).assert_ok()
    };
    let out = layered(&["config", "show", "--dir", "/from/flag"]);
    assert!(line_of(&out, "dir").contains("/from/flag ") && line_of(&out, "dir").ends_with(" --dir"), "{out}");
    assert!(line_of(&out, "log").ends_with("SKEIN_LOG"), "{out}");
    assert!(line_of(&out, "listen").ends_with("skein.toml:2"), "{out}");
    assert!(line_of(&out, "log_format").ends_with("default"), "{out}");
    assert!(line_of(&out, "database").ends_with("not set"), "{out}");
    assert!(line_of(&out, "key").contains(" set ") && !out.contains("sk_hidden"), "{out}");

    let json = layered(&["config", "show", "--json"]);
    assert!(!json.contains("sk_hidden"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let settings = json["settings"].as_array().unwrap();
    let listen = settings.iter().find(|setting| setting["name"] == "listen").unwrap();
    assert_eq!((&listen["value"], &listen["origin"]["line"]), (&"127.0.0.1:1".into(), &2.into()));
}

#[test]
fn a_configuration_that_cannot_be_meant_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let finished = finish(skein_with_file(folder.path(), "databse = \"x\"").args(["config", "show"]));
    assert_eq!(finished.code(), Some(2));
    assert!(
        finished.err.contains("skein.toml:1") && finished.err.contains("did you mean database?"),
        "{}",
        finished.err
    );
    assert!(finished.err.contains("hint: "), "{}", finished.err);
    let missing = finish(Program::new(SKEIN).args(["--config", "/nowhere/skein.toml", "config", "show"]));
    assert_eq!(missing.code(), Some(2));
    assert!(missing.err.contains("/nowhere/skein.toml"), "{}", missing.err);
}

#[test]
fn completions_and_manual_pages_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    for shell in ["bash", "zsh", "fish"] {
        let script = home.run(&["completions", shell]).assert_ok();
        assert!(script.contains("skein") && script.contains("s3-bucket"), "{shell}");
    }
    assert_eq!(home.run(&["completions", "cobol"]).code(), Some(2));
    let page = home.run(&["man"]).assert_ok();
    assert!(page.contains(".TH") && page.contains("SKEIN_DIR"));
    home.run(&["man", folder.path().to_str().unwrap()]).assert_ok();
    for page in ["skein.1", "skein-serve.1", "skein-config-show.1"] {
        assert!(folder.path().join(page).is_file(), "{page}");
    }
    let nowhere = home.run(&["man", "/nowhere/at/all"]);
    assert_eq!(nowhere.code(), Some(5), "{}", nowhere.err);
}

#[test]
fn nobody_reading_on_is_no_error() {
    let script = format!("set -o pipefail; {SKEIN} completions bash | head -1; {SKEIN} config show | head -1");
    finish(Program::new("bash").arg("-c").arg(script)).assert_ok();
}
