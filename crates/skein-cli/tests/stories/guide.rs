//! Runs the commands of README.md and of every page in `docs/guide`, and compares what they print with the page.
//!
//! The `sh` blocks of a page run one after another in one shell, from an empty home and beside a server that was just
//! started. An `output` block lists lines that the commands before it print, in this order; `…` stands for any text.
//! Blocks with another tag are shown only: they need a terminal, a provider's key or another machine.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use skein_testkit::hostile_server::{Behaviour, HostileServer};
use skein_testkit::httpbin::Httpbin;
use skein_testkit::postgres::{Cluster, Database};
use skein_testkit::process::{Child, Program};

use crate::server::{SKEIN, after};

const PAGES: [(&str, &str); 10] = [
    ("README.md", include_str!("../../../../README.md")),
    ("back-up-and-prove.md", include_str!("../../../../docs/guide/back-up-and-prove.md")),
    ("build-a-process.md", include_str!("../../../../docs/guide/build-a-process.md")),
    ("build-a-tool.md", include_str!("../../../../docs/guide/build-a-tool.md")),
    ("connect-a-model.md", include_str!("../../../../docs/guide/connect-a-model.md")),
    ("find-things-again.md", include_str!("../../../../docs/guide/find-things-again.md")),
    ("operate-a-server.md", include_str!("../../../../docs/guide/operate-a-server.md")),
    ("script-with-the-api-and-the-cli.md", include_str!("../../../../docs/guide/script-with-the-api-and-the-cli.md")),
    ("share-with-a-team.md", include_str!("../../../../docs/guide/share-with-a-team.md")),
    ("talk-and-branch.md", include_str!("../../../../docs/guide/talk-and-branch.md")),
];

/// What the pages write for the server, its sign-in link, an HTTP service and a model on this machine.
const SERVER: &str = "http://127.0.0.1:7420";
const LINK: &str = "LINK";
const SERVICE: &str = "127.0.0.1:8000";
const MODEL: &str = "127.0.0.1:11434";
/// The credentials the pages store. No output and no log line contains them.
const CREDENTIALS: [&str; 3] = ["k-7f9c24e53b1a0d6f", "k-of-bert-himself", "k-of-a-provider"];

const END_OF_BLOCK: &str = "=== end of block ===";
/// How long the commands of one page may take, beside other tests.
const PAGE_MAX: Duration = Duration::from_mins(3);

/// A block of commands, and the lines of their output that the page shows.
struct Block {
    commands: String,
    output: Vec<String>,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for fenced in page.split("\n```").skip(1).step_by(2) {
        let (tag, text) = fenced.split_once('\n').expect("a block has a first line");
        match tag {
            "sh" => blocks.push(Block { commands: text.to_owned(), output: Vec::new() }),
            "output" => {
                let block = blocks.last_mut().expect("output follows commands");
                block.output.extend(text.lines().map(str::to_owned));
            }
            _ => {}
        }
    }
    blocks
}

/// Whether a printed line is the one a page shows; `…` stands for any text.
fn is_line(printed: &str, shown: &str) -> bool {
    let Some((start, shown_after)) = shown.split_once('…') else { return printed == shown };
    let Some(rest) = printed.strip_prefix(start) else { return false };
    let mut tails = rest.char_indices().map(|(at, _)| &rest[at..]).chain([""]);
    tails.any(|tail| is_line(tail, shown_after))
}

/// The peers a page calls, started if the page names their addresses.
struct Peers {
    service: Option<Httpbin>,
    model: Option<HostileServer>,
}

impl Peers {
    fn of(page: &str) -> Self {
        Self {
            service: page.contains(SERVICE).then(Httpbin::start),
            model: page.contains(MODEL).then(|| HostileServer::start(|_| Behaviour::json(&model_answer()))),
        }
    }

    /// The page with real addresses in place of those it writes.
    fn filled_in(&self, page: &str, server: &str, link: &str) -> String {
        let page = page.replace(SERVER, server).replace(LINK, link);
        let page = match &self.service {
            Some(service) => page.replace(SERVICE, &service.address().to_string()),
            None => page,
        };
        match &self.model {
            Some(model) => page.replace(MODEL, &model.address().to_string()),
            None => page,
        }
    }
}

/// A model that answers everything the same, as an OpenAI-compatible server does.
fn model_answer() -> String {
    let message = json!({ "role": "assistant", "content": "Eleven herons." });
    let choices = json!([{ "index": 0, "finish_reason": "stop", "message": message }]);
    json!({ "id": "r1", "model": "m", "choices": choices }).to_string()
}

fn serve(home: &Path, database: Option<&str>) -> Child {
    let serve = Program::new(SKEIN).args(["serve", "--listen", "127.0.0.1:0"]).env("HOME", home);
    database.into_iter().fold(serve, |serve, url| serve.env("SKEIN_DATABASE", url)).spawn()
}

/// Runs the blocks in one shell; the output of each.
fn run(blocks: &[Block], home: &Path, database: Option<&str>) -> Vec<String> {
    let commands: Vec<&str> = blocks.iter().map(|block| block.commands.as_str()).collect();
    let end_of_block = format!("\necho '{END_OF_BLOCK}'\n");
    let commands = commands.join(&end_of_block) + &end_of_block;
    let path = std::env::join_paths([Path::new(SKEIN).parent().unwrap(), Path::new("/usr/bin"), Path::new("/bin")]);
    let shell = Program::new("/bin/bash").arg("-c").arg(format!("set -euo pipefail\nexec 2>&1\n{commands}"));
    let shell = shell.env("PATH", path.unwrap()).env("HOME", home).current_dir(home);
    let mut shell = database.into_iter().fold(shell, |shell, url| shell.env("SKEIN_DATABASE", url)).spawn();
    let status = shell.wait_within(PAGE_MAX);
    let printed = shell.stdout();
    assert!(status.is_some_and(|status| status.success()), "{status:?}\n{printed}\n{}", shell.stderr());
    let mut outputs: Vec<String> = printed.split(&format!("{END_OF_BLOCK}\n")).map(str::to_owned).collect();
    outputs.pop();
    assert_eq!(outputs.len(), blocks.len(), "one output for each block: {printed}");
    outputs
}

/// Runs a page, on SQLite without a database.
fn run_page(name: &str, database: Option<&str>) {
    let (_, page) = PAGES.into_iter().find(|(page, _)| *page == name).expect("the page is listed");
    let home = tempfile::tempdir().unwrap();
    let peers = Peers::of(page);
    let mut server = serve(home.path(), database);
    let address = after(&server.wait_for_line("Skein is listening on "), "listening on ");
    let link = after(&server.wait_for_line("Sign in, once: "), "Sign in, once: ");
    let blocks = blocks(&peers.filled_in(page, &address, &link));
    assert!(!blocks.is_empty(), "{name} has no commands");
    let outputs = run(&blocks, home.path(), database);
    for (block, printed) in blocks.iter().zip(&outputs) {
        let mut lines = printed.lines().map(str::trim_end);
        for shown in &block.output {
            let is_found = lines.any(|line| is_line(line, shown.trim_end()));
            assert!(is_found, "{name}: {shown:?} is not in the output of\n{}\nwhich is\n{printed}", block.commands);
        }
    }
    assert!(server.terminate().success(), "{}", server.stderr());
    for told in outputs.iter().chain([&server.stdout(), &server.stderr()]) {
        assert!(!CREDENTIALS.iter().any(|credential| told.contains(credential)), "{name}: {told}");
    }
}

fn run_page_on_postgres(name: &str) {
    let database = Database::fresh(Cluster::shared());
    run_page(name, Some(database.url()));
}

#[test]
fn every_page_of_the_guide_is_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = files.collect();
    files.sort();
    let listed: Vec<&str> = PAGES.iter().map(|(name, _)| *name).filter(|name| *name != "README.md").collect();
    assert_eq!(files, listed);
}

#[test]
fn links_of_the_pages_lead_to_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, page) in PAGES {
        let folder = if name == "README.md" { root.clone() } else { root.join("docs/guide") };
        for link in page.split("](").skip(1) {
            let target = link.split(')').next().unwrap_or_default();
            assert!(folder.join(target).exists(), "{name} links to {target}, which does not exist");
        }
    }
}

#[test]
fn shown_lines_match_with_gaps() {
    assert!(is_line("Items: 7 of 1 owners", "Items: … of 1 …") && is_line("", "…") && is_line("a", "a"));
    assert!(!is_line("Items: 7", "Items: … of …") && !is_line("ab", "a") && !is_line("xa", "a…"));
}

#[test]
fn commands_of_the_readme_work_on_sqlite() {
    run_page("README.md", None);
}

#[test]
fn commands_of_the_readme_work_on_postgres() {
    run_page_on_postgres("README.md");
}

#[test]
fn commands_of_talk_and_branch_work_on_sqlite() {
    run_page("talk-and-branch.md", None);
}

#[test]
fn commands_of_talk_and_branch_work_on_postgres() {
    run_page_on_postgres("talk-and-branch.md");
}

#[test]
fn commands_of_connect_a_model_work_on_sqlite() {
    run_page("connect-a-model.md", None);
}

#[test]
fn commands_of_connect_a_model_work_on_postgres() {
    run_page_on_postgres("connect-a-model.md");
}

#[test]
fn commands_of_find_things_again_work_on_sqlite() {
    run_page("find-things-again.md", None);
}

#[test]
fn commands_of_find_things_again_work_on_postgres() {
    run_page_on_postgres("find-things-again.md");
}

#[test]
fn commands_of_build_a_tool_work_on_sqlite() {
    run_page("build-a-tool.md", None);
}

#[test]
fn commands_of_build_a_tool_work_on_postgres() {
    run_page_on_postgres("build-a-tool.md");
}

#[test]
fn commands_of_build_a_process_work_on_sqlite() {
    run_page("build-a-process.md", None);
}

#[test]
fn commands_of_build_a_process_work_on_postgres() {
    run_page_on_postgres("build-a-process.md");
}

#[test]
fn commands_of_share_with_a_team_work_on_sqlite() {
    run_page("share-with-a-team.md", None);
}

#[test]
fn commands_of_share_with_a_team_work_on_postgres() {
    run_page_on_postgres("share-with-a-team.md");
}

#[test]
fn commands_of_script_with_the_api_and_the_cli_work_on_sqlite() {
    run_page("script-with-the-api-and-the-cli.md", None);
}

#[test]
fn commands_of_script_with_the_api_and_the_cli_work_on_postgres() {
    run_page_on_postgres("script-with-the-api-and-the-cli.md");
}

/// The page names files of the embedded database.
#[test]
fn commands_of_operate_a_server_work_on_sqlite() {
    run_page("operate-a-server.md", None);
}

/// The page restores into another directory, which a database of PostgreSQL is not.
#[test]
fn commands_of_back_up_and_prove_work_on_sqlite() {
    run_page("back-up-and-prove.md", None);
}
