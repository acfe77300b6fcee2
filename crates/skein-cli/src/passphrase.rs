//! The passphrase of a bundle with secrets: from a terminal, standard input or a file, never from an argument.

use std::fmt;
use std::io::IsTerminal as _;

use axum::http::HeaderValue;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::definition::Source;
use crate::failure::Failure;
use crate::prompt::{Prompt, Terminal};
use crate::secret_value::{asked_twice, line_of};

const WHAT: &str = "Passphrase";

/// Where a passphrase comes from, and whether it is a new one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PassphraseSource {
    /// The terminal when it is none, or standard input when that is not one.
    pub(crate) file: Option<Source>,
    /// A new one is asked for twice.
    pub(crate) is_new: bool,
}

/// Overwritten when dropped; cannot be shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Passphrase(Zeroizing<String>);

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a passphrase")
    }
}

impl Passphrase {
    pub(crate) fn read(source: &PassphraseSource) -> Result<Self, Failure> {
        Self::asked(source, std::io::stdin().is_terminal(), &mut Terminal)
    }

    fn asked(source: &PassphraseSource, is_terminal: bool, person: &mut dyn Prompt) -> Result<Self, Failure> {
        match &source.file {
            None if is_terminal && source.is_new => asked_twice(WHAT, person).map(Self),
            None if is_terminal => person.hidden(&format!("{WHAT}: ")).map(Self),
            None => line_of(&Source::Input).map(Self),
            Some(source) => line_of(source).map(Self),
        }
    }

    /// As it is sent: never indexed, and shown by nobody who respects the mark.
    pub(crate) fn header(&self) -> HeaderValue {
        let encoded = Zeroizing::new(STANDARD.encode(self.0.as_bytes()));
        let mut header = HeaderValue::from_str(&encoded).expect("base64 is visible ASCII");
        header.set_sensitive(true);
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers in the order given.
    struct ScriptedPerson(Vec<&'static str>);

    impl Prompt for ScriptedPerson {
        fn line(&mut self, _: &str) -> Result<String, Failure> {
            panic!("a passphrase is never seen")
        }

        fn hidden(&mut self, _: &str) -> Result<Zeroizing<String>, Failure> {
            Ok(Zeroizing::new(self.0.remove(0).to_owned()))
        }
    }

    fn asked(is_new: bool, answers: &[&'static str]) -> Result<Passphrase, Failure> {
        Passphrase::asked(&PassphraseSource { file: None, is_new }, true, &mut ScriptedPerson(answers.to_vec()))
    }

    #[test]
    fn a_new_passphrase_is_asked_for_twice_a_known_one_once() {
        assert!(asked(true, &["correct horse", "correct horse"]).is_ok());
        assert!(asked(true, &["correct horse", "correct house"]).is_err());
        assert!(asked(false, &["correct horse"]).is_ok());
    }

    #[test]
    fn it_is_sent_in_base64_and_never_shown() {
        let passphrase = asked(false, &["twelve ch\u{e4}rs"]).unwrap();
        assert_eq!(passphrase.header(), "dHdlbHZlIGNow6Rycw==");
        assert!(passphrase.header().is_sensitive());
        assert_eq!(format!("{passphrase:?} {:?}", passphrase.header()), "a passphrase Sensitive");
    }

    #[test]
    fn from_a_file_it_is_the_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("phrase");
        std::fs::write(&file, "correct horse\n").unwrap();
        let source = PassphraseSource { file: Some(Source::File(file.clone())), is_new: true };
        assert_eq!(*Passphrase::asked(&source, true, &mut ScriptedPerson(Vec::new())).unwrap().0, "correct horse");
        std::fs::write(&file, "two\nlines\n").unwrap();
        assert!(Passphrase::asked(&source, true, &mut ScriptedPerson(Vec::new())).is_err());
    }
}
