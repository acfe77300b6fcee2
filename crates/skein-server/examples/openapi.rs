//! Prints the API document; `make openapi` keeps it in `openapi/skein.json`.

#![expect(clippy::print_stdout, reason = "printing is all it does")]

fn main() {
    print!("{}", skein_server::http::openapi::text());
}
