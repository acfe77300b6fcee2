//! What was found out about a conversation: whether it is intact, in what two nodes differ, what a model is shown.

use super::ask;
use crate::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plan::Wish;

/// Ends with 1 when something was altered, and names the node.
pub(super) fn verify(wish: &Wish, desk: &mut Desk<'_>) -> Result<Exit, Failure> {
    let found = ask(wish, desk)?;
    desk.show(&found, &["verdict", "first"], "verdict")?;
    Ok(if found["verdict"] == "invalid" { Exit::Problem } else { Exit::Ok })
}

pub(super) fn compare(wish: &Wish, desk: &mut Desk<'_>) -> Result<Exit, Failure> {
    let found = ask(wish, desk)?;
    desk.show(&found, &[], "equal")
}

pub(super) fn context(wish: &Wish, desk: &mut Desk<'_>) -> Result<Exit, Failure> {
    let found = ask(wish, desk)?;
    desk.show(&found, &[], "tokens")
}
