//! A progress bar on standard error, when that is a terminal.

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
