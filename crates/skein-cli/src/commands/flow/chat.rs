//! `skein chat`: what is typed is said in a conversation, and a process answers it, word by word.
//!
//! A line is said, unless it begins with a slash: then it is a command of [`Line`]. Where nobody is at a terminal, lines
//! are read to the end and each is answered.

mod conversation;
mod line;

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use anyhow::Error;

use self::line::Line;
use crate::commands::flow::chat::conversation::ChatConversation;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plan::ChatTask;
use crate::session::{OutputFormat, Session};

const HELP: &str = "\
What you type is said, and answered. Besides:
  /edit TEXT     say something else in place of what you said last, and have it answered
  /alt           have the last thing you said answered once more
  /alt NUMBER    turn to another of its answers
  /fork [TITLE]  go on from here in a conversation of its own
  /help          this
  /quit          leave; the conversation stays, and skein chat goes on with it";

pub(super) fn run(wanted: ChatTask, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    desk.door()?.work();
    let mut talk = ChatConversation::begin(wanted, desk)?;
    let is_watched = std::io::stdin().is_terminal() && matches!(desk.form, OutputFormat::People(_));
    if is_watched {
        eprintln!("{} answers. /help says what else you can do, /quit leaves.", talk.answerer());
        talk.recall(desk)?;
    }
    let mut exit = Exit::Ok;
    while let Some(typed) = next_line(is_watched)? {
        match obey(&typed, &mut talk, desk) {
            Ok(true) => {}
            Ok(false) => break,
            Err(failure) if failure.is_closed_pipe() || failure.exit == Exit::Unavailable => return Err(failure),
            // A talk goes on after what went wrong in it.
            Err(failure) => {
                eprintln!("{failure}");
                exit = if is_watched { Exit::Ok } else { failure.exit };
            }
        }
    }
    if let (true, Some(conversation)) = (is_watched, talk.conversation()) {
        eprintln!("To go on with it: skein chat {conversation}");
    }
    Ok(exit)
}

/// Does what a line says; whether the talk goes on.
fn obey(typed: &str, talk: &mut ChatConversation, desk: &mut Session<'_>) -> Result<bool, Failure> {
    match Line::read(typed)? {
        Line::Nothing => {}
        Line::Say(words) => talk.say(&words, desk)?,
        Line::Edit(words) => talk.edit(&words, desk)?,
        Line::Again => talk.again(desk)?,
        Line::Switch(number) => talk.switch(number, desk)?,
        Line::Fork(title) => talk.fork(title, desk)?,
        Line::Help => eprintln!("{HELP}"),
        Line::Quit => return Ok(false),
    }
    Ok(true)
}

fn next_line(is_watched: bool) -> Result<Option<String>, Failure> {
    if is_watched {
        eprint!("> ");
        let _ = std::io::stderr().flush();
    }
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line).map_err(|error| {
        let error = Error::new(error).context("standard input cannot be read");
        Failure::usage(error, "send lines of UTF-8 text")
    })?;
    Ok((read > 0).then_some(line))
}
