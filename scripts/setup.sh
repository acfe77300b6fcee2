#!/usr/bin/env bash
# Makes sure that everything the project needs is there, and says what it found and what it installs.
# Running it again changes nothing and takes less than a second.
#
#   scripts/setup.sh                all that `make test` needs
#   scripts/setup.sh --build-only   only what `make serve` needs: Rust and a C compiler (and Node, for the page)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '    %-12s %s\n' "$1" "$2"; }
fail() {
  printf 'setup: %s\n' "$@" >&2
  exit 1
}

# Installs Debian packages: as root, else through sudo, else tells the reader how.
install_packages() {
  local as_root=()
  command -v apt-get >/dev/null || fail "please install: $*"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "please run as root: apt-get install $*"
    as_root=(sudo)
  fi
  say installing "$* (apt-get)"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update >&2 || true
  "${apt[@]}" install -y --no-install-recommends "$@" >&2 || fail "apt-get could not install: $*"
}

# rustup looks for its toolchains below HOME. With another HOME they are still beside the cargo on PATH.
find_toolchain() {
  local cargo_home rustup_home
  cargo --version >/dev/null 2>&1 && return
  command -v cargo >/dev/null || fail "cargo is missing. Install Rust: https://rustup.rs" \
    "(when it is installed already, put ~/.cargo/bin on PATH)"
  cargo_home=$(dirname "$(dirname "$(command -v cargo)")")
  rustup_home=$(dirname "$cargo_home")/.rustup
  [ -d "$rustup_home/toolchains" ] || return 0
  export CARGO_HOME=${CARGO_HOME:-$cargo_home} RUSTUP_HOME=${RUSTUP_HOME:-$rustup_home}
}

check_rust() {
  local wanted found
  find_toolchain
  wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  found=$(rustc --version 2>/dev/null | cut -d' ' -f2) || fail "rustc does not run: try 'rustc --version'"
  printf '%s\n%s\n' "$wanted" "$found" | sort --check=quiet --version-sort ||
    fail "Rust $wanted or newer is needed, this is $found: rustup update stable"
  say rust "$found"
}

check_rust_components() {
  local component
  for component in fmt clippy; do
    cargo "$component" --version >/dev/null 2>&1 ||
      fail "cargo $component is missing: rustup component add rustfmt clippy"
  done
}

check_c_compiler() {
  command -v cc >/dev/null || install_packages gcc libc6-dev
  say 'C compiler' "$(command -v cc)"
}

# The folder with PostgreSQL's server programs: on PATH, else the newest of Debian's.
postgres_programs() {
  local folder program
  for folder in $(dirname "$(command -v postgres || echo none)") \
    $(printf '%s\n' /usr/lib/postgresql/*/bin | sort --version-sort --reverse); do
    for program in initdb postgres pg_ctl pgbench; do
      [ -x "$folder/$program" ] || continue 2
    done
    echo "$folder"
    return
  done
  return 1
}

# The tests start their own server on a free port. The one that Debian's package may set up and start
# on port 5432 is neither used nor in the way.
check_postgres() {
  local folder
  if ! folder=$(postgres_programs); then
    install_packages postgresql
    folder=$(postgres_programs) || fail "apt-get installed postgresql, but its programs were not found"
  fi
  say PostgreSQL "$folder"
}

# Makes the certificate with which the tests try encrypted connections.
check_openssl() {
  command -v openssl >/dev/null || install_packages openssl
  say OpenSSL "$(command -v openssl)"
}

# The commands of the README and the guide are a test, and they use it.
check_curl() {
  command -v curl >/dev/null || install_packages curl ca-certificates
  say curl "$(command -v curl)"
}

# The page is built and tested with it; what is left out without it is said there.
check_node() {
  say Node "$(node --version 2>/dev/null || echo 'missing: the page is neither built nor tested (https://nodejs.org)')"
}

# The page is tried in a browser that people use. Where it cannot be had, the tests say so.
check_chromium() {
  command -v node >/dev/null || return 0
  [ -x "${SKEIN_CHROMIUM:-/usr/bin/chromium}" ] || (install_packages chromium) || true
  [ -x "${SKEIN_CHROMIUM:-/usr/bin/chromium}" ] || say Chromium missing
  [ ! -x "${SKEIN_CHROMIUM:-/usr/bin/chromium}" ] || say Chromium "${SKEIN_CHROMIUM:-/usr/bin/chromium}"
}

check_python() {
  python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages python3 python3-venv
  python3 -c 'import ensurepip, venv' 2>/dev/null ||
    fail "python3 cannot make virtual environments: install its venv and ensurepip modules"
}

# Made anew when the requirements or Python change; the stamp is written last.
check_python_servers() {
  local cache=${XDG_CACHE_HOME:-$HOME/.cache}/skein
  local venv=$cache/venv stamp wanted
  stamp=$venv/requirements.stamp
  check_python
  wanted="$(python3 --version) $(sha256sum <scripts/requirements.txt)"
  mkdir -p "$cache"
  exec 9>"$cache/setup.lock"
  flock 9
  if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || ! [ -x "$venv/bin/moto_server" ] ||
    ! [ -x "$venv/bin/schemathesis" ] || ! [ -x "$venv/bin/litellm" ]; then
    say installing "scripts/requirements.txt into $venv (takes about a minute)"
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r scripts/requirements.txt >&2 ||
      fail "pip could not install scripts/requirements.txt"
    echo "$wanted" >"$stamp"
  fi
  exec 9>&-
  say Python "$venv"
}

case "${1-}" in
  --build-only)
    check_rust
    check_c_compiler
    ;;
  '')
    check_rust
    check_rust_components
    check_c_compiler
    check_postgres
    check_openssl
    check_curl
    check_node
    check_chromium
    check_python_servers
    ;;
  *) fail "usage: scripts/setup.sh [--build-only]" ;;
esac
