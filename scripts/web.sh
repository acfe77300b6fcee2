#!/usr/bin/env bash
# Builds and tests the page. What did not change is not done again.
#
#   scripts/web.sh build         web/dist, where Node is; without Node the server shows a notice
#   scripts/web.sh check         types against the API document, formatting, svelte-check, unit tests
#   scripts/web.sh browser       the page in Chromium against a real server (needs the built server)
#   scripts/web.sh screenshots   every screen into web/screenshots, and the pictures of the README
#   scripts/web.sh speed         how quick the page is, as a table for docs/benchmarks.md
#
# Without Node.js or Chromium the page is not tested, and a line says so; in CI (CI is set) that is a failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../web"
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1

say() { printf '    %s\n' "$1"; }

has_node() {
  local found
  found=$(node --version 2>/dev/null) || return 1
  printf '%s\n%s\n' 20.19.0 "${found#v}" | sort --check=quiet --version-sort
}

chromium=${SKEIN_CHROMIUM:-/usr/bin/chromium}

# Whether the page can be tested here; says what is missing.
can_test() {
  local missing=''
  has_node || missing='Node.js 20.19 or newer (https://nodejs.org)'
  [ "${1-}" = without-browser ] || [ -x "$chromium" ] || missing=${missing:+$missing and }"Chromium at $chromium"
  [ -n "$missing" ] || return 0
  if [ -n "${CI-}" ]; then
    printf 'web: the page cannot be tested without %s\n' "$missing" >&2
    exit 1
  fi
  say "LEFT OUT: the page is not tested, because there is no $missing here"
  return 1
}

browser() {
  can_test || return 0
  install
  ../scripts/in_memory.sh npx --no-install playwright test "$@"
}

install() {
  local stamp=node_modules/.lock-stamp wanted
  wanted=$(sha256sum <package-lock.json)
  [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && return
  npm ci --no-audit --no-fund --loglevel=error
  echo "$wanted" >"$stamp"
}

build() {
  local stamp=dist/.stamp wanted
  if ! has_node && [ -n "${CI-}" ]; then
    printf 'web: the page cannot be built without Node.js 20.19 or newer (https://nodejs.org)\n' >&2
    exit 1
  fi
  if ! has_node; then
    say 'left out: no Node.js 20.19 or newer here; the server will show a notice instead of the page'
    return
  fi
  wanted=$(find src public scripts index.html package-lock.json vite.config.ts svelte.config.js -type f -print0 |
    sort -z | xargs -0 sha256sum | sha256sum)
  [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && [ -f dist/index.html ] && return
  install
  npm run --silent build
  echo "$wanted" >"$stamp"
}

check() {
  install
  npm run --silent types -- --check
  npm run --silent lint
  npm run --silent check -- --output human
  npm run --silent unit
}

case "${1-}" in
  build) build ;;
  check) if can_test without-browser; then check; fi ;;
  browser) browser --project=page "${@:2}" ;;
  screenshots) browser --project=pictures "${@:2}" ;;
  speed) browser --project=speed --reporter=dot "${@:2}" ;;
  *)
    echo "usage: scripts/web.sh build|check|browser|screenshots|speed" >&2
    exit 2
    ;;
esac
