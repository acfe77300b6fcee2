//! Programs are awaited by their lines, ended for certain, and see nothing of the developer's.

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use super::{DEADLINE, Program, Stream, ended_within, open_pidfd};

fn shell(script: &str) -> Program {
    Program::new("sh").arg("-c").arg(script)
}

#[test]
fn a_line_is_found_whenever_it_comes() {
    let child = shell("echo early; echo address 127.0.0.1:1; echo oops >&2; exec sleep 60").spawn();
    assert_eq!(child.wait_for_line("address"), "address 127.0.0.1:1");
    assert_eq!(child.wait_for_line("early"), "early");
    assert_eq!(child.wait_for_line_on(Stream::Stderr, "oops"), "oops");
}

#[test]
fn a_program_that_ends_without_the_line_is_noticed_at_once() {
    let child = shell("echo something else").spawn();
    assert_eq!(child.find_line(Stream::Stdout, "never", DEADLINE), None);
}

#[test]
fn all_output_is_there_after_the_end() {
    let mut child = shell("seq 1 5000; exit 3").spawn();
    assert_eq!(child.wait().code(), Some(3));
    assert_eq!(child.stdout().lines().count(), 5000);
}

#[test]
fn secrets_and_the_home_of_the_developer_are_not_inherited() {
    let mut child = shell("env").env("SKEIN_EXAMPLE", "given").spawn();
    child.wait();
    let seen = child.stdout();
    assert!(seen.contains("SKEIN_EXAMPLE=given"));
    assert!(!seen.contains("CARGO_"), "cargo sets these for a test; none may pass: {seen}");
    assert_ne!(crate::variable("HOME"), seen.lines().find_map(|l| l.strip_prefix("HOME=")).map(str::to_owned));
}

#[test]
fn terminate_lets_a_program_say_goodbye_and_kill_nine_does_not() {
    let script = "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done";
    let mut polite = shell(script).spawn();
    polite.wait_for_line("up");
    assert_eq!(polite.terminate().code(), Some(0));
    assert!(polite.stdout().contains("bye"));

    let mut killed = shell(script).spawn();
    killed.wait_for_line("up");
    killed.kill_nine();
    assert_eq!(killed.wait().signal(), Some(9));
    assert!(!killed.stdout().contains("bye"));
}

#[test]
fn dropping_ends_what_the_program_started_too() {
    let child = shell("sleep 60 & echo started $!; wait").spawn();
    let line = child.wait_for_line("started");
    let id = line.rsplit(' ').next().and_then(|id| id.parse().ok()).expect("a process id");
    let grandchild = open_pidfd(id).expect("it runs");
    drop(child);
    assert!(ended_within(&grandchild, Duration::from_secs(10)));
}

#[test]
fn a_program_outlives_the_thread_that_asked_for_it() {
    let asked = std::thread::spawn(|| shell("echo up; exec sleep 60").spawn());
    let mut child = asked.join().expect("spawning does not panic");
    child.wait_for_line("up");
    assert!(child.wait_within(Duration::from_millis(200)).is_none());
}
