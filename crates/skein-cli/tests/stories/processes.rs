//! A process as a file: judged, kept, edited, looked at, taken elsewhere, put away; by the real binary.

use serde_json::Value;

use crate::server::{Finished, Home};

const ECHO: &str = "name: Echo
initialContext: [word]
steps:
  - id: say
    toolId: Offline answer
    inputs: {question: '{word}'}
    output: {variable: said}
outputTemplate: '{{said}}'
";

fn json(finished: Finished) -> Value {
    let out = finished.assert_ok();
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

#[test]
fn a_process_is_validated_made_edited_exported_imported_deleted_and_restored() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(&folder.path().join("home"));
    home.run(&["init"]).assert_ok();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let file = write("echo.yaml", ECHO);
    assert!(home.run(&["process", "validate", "--file", &file]).assert_ok().contains("Nothing is wrong"));
    let broken =
        write("broken.yaml", &ECHO.replace("{word}", "{nobody}").replace("[word]", "[word]\nmaxRecursionDepth: 99"));
    let refused = home.run(&["process", "validate", "--file", &broken]);
    assert_eq!(refused.code(), Some(1), "{}\n{}", refused.out, refused.err);
    assert!(refused.out.contains("BR-STEP-002") && refused.out.contains("BR-PROCESS-007"), "{}", refused.out);

    let made = json(home.run(&["process", "new", "--file", &file, "--json"]));
    assert!(made["steps"][0]["toolId"].as_str().unwrap().starts_with("entity_"), "{made}");
    let shown = home.run(&["process", "show", "Echo", "--yaml"]).assert_ok();
    let edited = write("edited.yaml", &shown.replace("name: Echo", "name: Parrot"));
    let changed = json(home.run(&["process", "edit", "Echo", "--file", &edited, "--json"]));
    assert_eq!((&changed["name"], &changed["definitionVersion"]), (&"Parrot".into(), &1.into()));
    assert_eq!(json(home.run(&["process", "show", "Parrot", "--version", "1", "--json"]))["name"], "Echo");
    let health = home.run(&["process", "health", "Parrot"]).assert_ok();
    assert!(health.contains("Offline answer") && health.contains("service"), "{health}");

    let exported = home.run(&["process", "export", "Parrot"]).assert_ok();
    assert!(exported.contains("toolId: Offline answer") && !exported.contains("entity_"), "{exported}");
    let again = write("again.yaml", &exported.replace("Parrot", "Starling"));
    assert_eq!(json(home.run(&["process", "import", &again, "--json"]))["name"], "Starling");
    let refused =
        home.run(&["process", "new", "--file", &write("none.yaml", &ECHO.replace("Offline answer", "Nothing"))]);
    assert!(refused.err.contains("there is no tool called Nothing"), "{}", refused.err);
    home.run(&["process", "delete", "Parrot"]).assert_ok();
    let listed = home.run(&["process", "list"]).assert_ok();
    assert!(listed.contains("Starling") && !listed.contains("Parrot"), "{listed}");
    assert!(home.run(&["process", "list", "--archived"]).assert_ok().contains("Parrot"));
    // What was deleted is taken up again as it was in one of its versions.
    let id = made["id"].as_str().unwrap();
    let refused = home.run(&["history", id, "--restore", "3"]);
    assert!(refused.err.contains("MG-CORE-004") && refused.err.contains("hint: "), "{}", refused.err);
    assert_eq!(json(home.run(&["history", id, "--restore", "1", "--json"]))["data"]["name"], "Echo");
    assert!(home.run(&["process", "list"]).assert_ok().contains("Echo"));
}
