#!/usr/bin/env bash
# Builds and tests the page. What did not change is not done again.
#
#   scripts/web.sh build         web/dist, where Node is; without Node the server shows a notice
#   scripts/web.sh check         types against the API document, formatting, svelte-check, unit tests
#   scripts/web.sh browser       the page in Chromium against a real server (needs the built server)
#   scripts/web.sh screenshots   every screen into web/screenshots
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../web"
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1

say() { printf '    %s\n' "$1"; }

has_node() {
  local found
  found=$(node --version 2>/dev/null) || return 1
  printf '%s\n%s\n' 20.19.0 "${found#v}" | sort --check=quiet --version-sort
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
  check) check ;;
  browser)
    install
    npx playwright test --grep-invert @screenshots "${@:2}"
    ;;
  screenshots)
    install
    npx playwright test --grep @screenshots "${@:2}"
    ;;
  *)
    echo "usage: scripts/web.sh build|check|browser|screenshots" >&2
    exit 2
    ;;
esac
