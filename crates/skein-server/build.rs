//! Takes the built page into the program: every file of `web/dist` by name. Without it there are none, and the server
//! shows a notice.

#![expect(clippy::unwrap_used, reason = "a build that cannot read its own files must stop")]
#![expect(clippy::disallowed_methods, reason = "cargo tells a build script where things are by its environment")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../web/dist");
    let folder = folder.canonicalize().unwrap_or(folder);
    println!("cargo:rerun-if-changed={}", folder.display());
    println!("cargo:rerun-if-changed=build.rs");
    let mut found = Vec::new();
    collect(&folder, &mut found);
    found.sort();
    let mut table = String::from("&[\n");
    for path in
        found.iter().filter(|path| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.')))
    {
        let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
        writeln!(table, "    ({name:?}, include_bytes!({:?})),", path.to_str().unwrap()).unwrap();
    }
    table.push(']');
    let out = PathBuf::from(env::var("OUT_DIR").unwrap()).join("page_files.rs");
    fs::write(out, table).unwrap();
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() { collect(&path, found) } else { found.push(path) }
    }
}
