//! The files of the repository, as far as they are not ignored.

use std::fs;
use std::path::{Path, PathBuf};

/// A text file of the repository, by its path from the root.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn open(path: String) -> Option<Self> {
        let text = read(&path)?;
        Some(Self { path, text })
    }

    pub(crate) fn is_in(&self, folder: &str) -> bool {
        self.path.contains(folder)
    }
}

pub(crate) fn rust_sources(start: &str) -> Vec<Source> {
    let paths = files().into_iter().filter(|p| p.starts_with(start) && has_extension(p, "rs"));
    paths.filter_map(Source::open).collect()
}

pub(crate) fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

/// The text of a file; nothing if it is missing or not text.
pub(crate) fn read(path: &str) -> Option<String> {
    fs::read_to_string(root().join(path)).ok()
}

/// Every file of the repository that is not ignored, by its path from the root, sorted.
pub(crate) fn files() -> Vec<String> {
    let mut found = Vec::new();
    collect_files(&root(), "", &ignore_patterns(), &mut found);
    found.sort();
    found
}

fn collect_files(folder: &Path, prefix: &str, ignored: &[String], found: &mut Vec<String>) {
    let entries = fs::read_dir(folder).expect("the repository can be read");
    for entry in entries.map(|entry| entry.expect("the repository can be read")) {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().expect("a listed file has a type");
        if is_ignored(&path, ignored) {
            continue;
        }
        if kind.is_dir() {
            collect_files(&entry.path(), &format!("{path}/"), ignored, found);
        } else if kind.is_file() {
            found.push(path);
        }
    }
}

pub(crate) fn ignore_patterns() -> Vec<String> {
    let text = read(".gitignore").unwrap_or_default();
    let written = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    let always = ["/.git", "/target", "node_modules"];
    always.into_iter().chain(written).map(str::to_owned).collect()
}

/// Understands what we write in `.gitignore`: a name, a path from the root, or `*` and an ending.
pub(crate) fn is_ignored(path: &str, patterns: &[String]) -> bool {
    patterns.iter().map(|pattern| pattern.trim_end_matches('/')).any(|pattern| {
        if let Some(ending) = pattern.strip_prefix('*') {
            path.ends_with(ending)
        } else if pattern.contains('/') {
            let rest = path.strip_prefix(pattern.trim_start_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        } else {
            path.split('/').any(|name| name == pattern)
        }
    })
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
