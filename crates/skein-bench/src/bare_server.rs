//! The other side of `http-get`: an axum handler that gives the same bytes from memory, in a process of its own.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use tokio::net::TcpListener;

use crate::process::{LISTENING, Server};

/// Starts this program again as the server, with what it is to answer in a file.
pub(crate) fn start(body: &Path) -> Result<Server> {
    let mut command = Command::new(std::env::current_exe().context("this program cannot be found")?);
    command.arg("bare-server").arg(body).stderr(Stdio::inherit());
    Server::start(command)
}

/// Serves until standard input ends, so that it does not outlive whoever started it.
pub(crate) fn run(body: &PathBuf) -> Result<()> {
    let body = Bytes::from(std::fs::read(body).context("what is to be answered cannot be read")?);
    std::thread::spawn(|| {
        // Whatever is wrong with the input, nobody is there any more.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let answer = move || std::future::ready(([(CONTENT_TYPE, "application/json")], body.clone()));
    let router = Router::new().route("/api/v1/items/{id}", get(answer));
    tokio::runtime::Runtime::new()?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        writeln!(std::io::stdout(), "{LISTENING}{}", listener.local_addr()?)?;
        Ok(axum::serve(listener, router).await?)
    })
}
