//! One line of a talk: something to say, or a command.

use anyhow::anyhow;

use crate::failure::Failure;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Nothing,
    Say(String),
    Edit(String),
    Again,
    Switch(usize),
    Fork(Option<String>),
    Help,
    Quit,
}

impl Line {
    /// Two slashes stand for one that is meant to be said.
    pub(super) fn read(typed: &str) -> Result<Self, Failure> {
        let typed = typed.trim();
        if typed.is_empty() {
            return Ok(Self::Nothing);
        }
        let Some(command) = typed.strip_prefix('/') else { return Ok(Self::Say(typed.to_owned())) };
        if command.starts_with('/') {
            return Ok(Self::Say(command.to_owned()));
        }
        let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let rest = rest.trim();
        match (name, rest) {
            ("edit", "") => Err(unclear("/edit needs what you would rather have said", "type it after /edit")),
            ("edit", words) => Ok(Self::Edit(words.to_owned())),
            ("alt", "") => Ok(Self::Again),
            ("alt", number) => {
                let number = number.parse().ok().filter(|number| *number > 0);
                number.map(Self::Switch).ok_or_else(|| unclear("/alt takes a number, from 1", "or nothing at all"))
            }
            ("fork", title) => Ok(Self::Fork(Some(title.to_owned()).filter(|title| !title.is_empty()))),
            ("help", "") => Ok(Self::Help),
            ("quit" | "exit", "") => Ok(Self::Quit),
            _ => {
                Err(unclear("there is no such command", "/help lists them; // begins a line that is said with a slash"))
            }
        }
    }
}

fn unclear(problem: &'static str, hint: &'static str) -> Failure {
    Failure::usage(anyhow!(problem), hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    #[test]
    fn lines_are_said_unless_they_are_commands() {
        let read = |typed: &str| Line::read(typed).unwrap();
        assert_eq!(read(" How many?\n"), Line::Say("How many?".to_owned()));
        assert_eq!(read("//etc/hosts"), Line::Say("/etc/hosts".to_owned()));
        assert_eq!(read("  \n"), Line::Nothing);
        assert_eq!(read("/edit How many herons?"), Line::Edit("How many herons?".to_owned()));
        assert_eq!((read("/alt"), read("/alt 2")), (Line::Again, Line::Switch(2)));
        assert_eq!(
            (read("/fork"), read("/fork By night")),
            (Line::Fork(None), Line::Fork(Some("By night".to_owned())))
        );
        assert_eq!((read("/help"), read("/quit")), (Line::Help, Line::Quit));
    }

    #[test]
    fn commands_that_mean_nothing_are_refused() {
        for typed in ["/edit", "/alt x", "/alt 0", "/dance", "/quit now"] {
            assert_eq!(Line::read(typed).unwrap_err().exit, Exit::Usage, "{typed}");
        }
    }
}
