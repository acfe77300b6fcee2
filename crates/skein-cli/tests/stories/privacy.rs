//! A directory or a configuration that others can look into: warned of at the start, and mended by the command doctor names.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::server::{Finished, Home, finish};

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Runs the command that doctor names.
fn mend(found: &Finished) {
    let remedy = found.out.lines().find_map(|line| line.trim().strip_prefix("to mend it: ")).unwrap();
    assert!(Command::new("sh").args(["-c", remedy]).status().unwrap().success(), "{remedy}");
}

#[test]
fn a_new_directory_and_a_backup_are_for_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (home, copy) = (Home::at(folder.path()), folder.path().join("copy"));
    home.run(&["init"]).assert_ok();
    home.run(&["backup", copy.to_str().unwrap()]).assert_ok();
    for path in [&home.dir, &copy] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700, "{}", path.display());
    }
}

#[test]
fn a_directory_that_others_can_look_into_is_warned_of_at_the_start_and_mended_as_doctor_says() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    set_mode(&home.dir, 0o755);
    let mut server = home.serve();
    assert!(server.process.terminate().success());
    let told = server.process.stderr();
    let warning = told.lines().find(|line| line.contains("others can look into")).unwrap_or_else(|| panic!("{told}"));
    assert!(warning.contains("WARN") && warning.contains("mode 755") && warning.contains("chmod 700"), "{warning}");
    let found = home.run(&["doctor"]);
    assert!(found.code() == Some(1) && found.out.contains("PROBLEM  privacy: others can look into"), "{}", found.out);
    mend(&found);
    home.run(&["doctor"]).assert_ok();
    let mut server = home.serve();
    assert!(server.process.terminate().success());
    assert!(!server.process.stderr().contains("others can"));
}

#[test]
fn a_configuration_that_others_can_change_or_whose_secrets_they_can_read_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let (home, file) = (Home::at(folder.path()), folder.path().join("skein.toml"));
    home.run(&["init"]).assert_ok();
    let doctor = || finish(home.skein().env("SKEIN_CONFIG", file.to_str().unwrap()).arg("doctor"));
    fs::write(&file, "log = \"warn\"\n").unwrap();
    set_mode(&file, 0o644);
    doctor().assert_ok();
    for (text, mode, told) in
        [("", 0o666, "others can change"), ("key = \"sk_x\"\n", 0o644, "others can read the secrets in")]
    {
        fs::write(&file, text).unwrap();
        set_mode(&file, mode);
        let found = doctor();
        assert!(found.code() == Some(1) && found.out.contains(told) && !found.out.contains("sk_x"), "{}", found.out);
        mend(&found);
        doctor().assert_ok();
    }
}
