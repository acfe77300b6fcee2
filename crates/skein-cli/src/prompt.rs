//! Asking a person on the terminal, also for what must not be seen.
//!
//! The terminal is read byte by byte while it echoes nothing: its own line editing would cut a pasted token at 4,095
//! bytes without a word, and a buffer would keep a copy. It is put back however the asking ends.

use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _, Read, Write as _};

use anyhow::anyhow;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::secret_value::VALUE_BYTES_MAX;

const TERMINAL: &str = "/dev/tty";
const INTERRUPT: u8 = 0x03;
const END: u8 = 0x04;
const BACKSPACE: u8 = 0x08;
const CLEAR_LINE: u8 = 0x15;
const DELETE: u8 = 0x7f;

/// Somebody who can be asked.
pub(crate) trait Prompt {
    /// One line, seen while it is typed.
    fn line(&mut self, question: &str) -> Result<String, Failure>;

    /// One line that nobody sees.
    fn hidden(&mut self, question: &str) -> Result<Zeroizing<String>, Failure>;
}

/// The terminal of this process.
pub(crate) struct Terminal;

impl Prompt for Terminal {
    fn line(&mut self, question: &str) -> Result<String, Failure> {
        let mut terminal = open(question).map_err(cannot_ask)?;
        // Between lines the terminal hands over whole ones, so a byte at a time is soon done.
        let line = read_line(&mut terminal)?;
        Ok(line.trim().to_owned())
    }

    fn hidden(&mut self, question: &str) -> Result<Zeroizing<String>, Failure> {
        let mut terminal = open(question).map_err(cannot_ask)?;
        let _silence = EchoGuard::over(&terminal).map_err(cannot_ask)?;
        read_line(&mut terminal)
    }
}

/// Asks a person whether something is meant that cannot be undone; `loss` says what happens, `otherwise` what did not.
pub(crate) fn confirm(loss: &str, otherwise: &'static str) -> Result<(), Failure> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let error = anyhow!("{loss}, and nobody can be asked");
        return Err(Failure::usage(error, "add --yes if that is meant"));
    }
    eprint!("{loss}. Type yes to go on: ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if answer.trim().eq_ignore_ascii_case("yes") {
        return Ok(());
    }
    Err(Failure::new(Exit::Failed, anyhow!(otherwise), "type yes when it is meant"))
}

fn open(question: &str) -> io::Result<File> {
    let mut terminal = File::options().read(true).write(true).open(TERMINAL)?;
    terminal.write_all(question.as_bytes())?;
    Ok(terminal)
}

fn cannot_ask(error: io::Error) -> Failure {
    let error = anyhow::Error::new(error).context("the terminal cannot be used to ask");
    Failure::new(Exit::Unavailable, error, "send the value to standard input, or name a file with --from-file")
}

/// The terminal echoes nothing and edits nothing until this is dropped.
struct EchoGuard {
    terminal: File,
    before: Termios,
}

impl EchoGuard {
    fn over(terminal: &File) -> io::Result<Self> {
        let terminal = terminal.try_clone()?;
        let before = tcgetattr(&terminal)?;
        let mut silent = before.clone();
        silent.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        silent.special_codes[SpecialCodeIndex::VMIN] = 1;
        silent.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&terminal, OptionalActions::Drain, &silent)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for EchoGuard {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.terminal, OptionalActions::Drain, &self.before);
        let _ = self.terminal.write_all(b"\n");
    }
}

/// Up to the end of a line, with the few keys that people expect to work.
fn read_line(from: &mut impl Read) -> Result<Zeroizing<String>, Failure> {
    let mut line = Zeroizing::new(Vec::with_capacity(VALUE_BYTES_MAX + 1));
    let mut byte = Zeroizing::new([0_u8]);
    while from.read(&mut *byte).map_err(cannot_ask)? == 1 {
        match byte[0] {
            b'\n' | b'\r' | END => break,
            INTERRUPT => return Err(Failure::new(Exit::Interrupted, anyhow!("stopped"), "nothing was kept")),
            BACKSPACE | DELETE => remove_last_letter(&mut line),
            CLEAR_LINE => line.clear(),
            _ if line.len() > VALUE_BYTES_MAX => {}
            other => line.push(other),
        }
    }
    let hint = "give a text of up to 64 KiB; longer ones are no secrets of these types";
    if line.len() > VALUE_BYTES_MAX {
        return Err(Failure::usage(anyhow!("that is larger than {} KiB", VALUE_BYTES_MAX >> 10), hint));
    }
    let text = std::str::from_utf8(&line).map_err(|_| Failure::usage(anyhow!("that is not UTF-8 text"), hint))?;
    Ok(Zeroizing::new(text.to_owned()))
}

fn remove_last_letter(line: &mut Vec<u8>) {
    while let Some(byte) = line.pop() {
        let continues_a_letter = byte & 0b1100_0000 == 0b1000_0000;
        if !continues_a_letter {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[u8]) -> Result<String, Failure> {
        read_line(&mut &*keys).map(|line| line.to_string())
    }

    #[test]
    fn a_line_is_what_was_typed_before_enter() {
        assert_eq!(typed(b"sk-123\rnext").unwrap(), "sk-123");
        assert_eq!(typed(b"sk-123\n").unwrap(), "sk-123");
        assert_eq!(typed(b"\x04").unwrap(), "");
        assert_eq!(typed("caf\u{e9}x\u{7f}\u{7f}e\r".as_bytes()).unwrap(), "cafe");
        assert_eq!(typed(b"wrong\x15right\r").unwrap(), "right");
        assert_eq!(typed(b"\x7f\x7fa\r").unwrap(), "a");
        assert_eq!(typed(&[b"x".repeat(9_000), b"\r".to_vec()].concat()).unwrap().len(), 9_000);
    }

    #[test]
    fn what_is_stopped_too_long_or_no_text_is_refused() {
        assert_eq!(typed(b"sk\x03").unwrap_err().exit, Exit::Interrupted);
        assert_eq!(typed(&b"x".repeat(VALUE_BYTES_MAX + 7)).unwrap_err().exit, Exit::Usage);
        assert_eq!(typed(b"\xff\r").unwrap_err().exit, Exit::Usage);
        assert!(typed(&b"x".repeat(VALUE_BYTES_MAX)).is_ok());
    }
}
