//! Progress bars on standard error, when that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use skein_store::verify::Progress;

/// Shows how far a long piece of work is; gone when dropped.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new() -> Self {
        let style = ProgressStyle::with_template("{msg:12} {wide_bar} {human_pos}/{human_len} {eta}");
        let bar = ProgressBar::new(0);
        bar.set_style(style.expect("the template is a constant"));
        Self(bar)
    }

    pub(crate) fn show(&self, progress: Progress) {
        self.0.set_message(progress.stage);
        self.0.set_length(progress.total.max(progress.done));
        self.0.set_position(progress.done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Shows how much of a file was sent or received.
#[derive(Clone)]
pub(crate) struct ByteBar(ProgressBar);

impl ByteBar {
    pub(crate) fn new(doing: &'static str) -> Self {
        let style = ProgressStyle::with_template("{msg:12} {wide_bar} {decimal_bytes}/{decimal_total_bytes} {eta}");
        let bar = ProgressBar::no_length().with_message(doing);
        bar.set_style(style.expect("the template is a constant"));
        Self(bar)
    }

    /// Begins again; a length of 0 is one that is not known.
    pub(crate) fn start(&self, length: u64) {
        self.0.reset();
        if length > 0 {
            self.0.set_length(length);
        }
    }

    pub(crate) fn add(&self, bytes: usize) {
        self.0.inc(bytes as u64);
    }

    pub(crate) fn end(&self) {
        self.0.finish_and_clear();
    }
}
