#!/usr/bin/env bash
# Makes the Python in which other engines are measured. Running it again changes nothing.
set -euo pipefail
python=${SKEIN_BENCH_PEERS_PYTHON:?}
home=$(dirname "$(dirname "$python")")
[ -x "$python" ] || python3 -m venv "$home"
"$python" -c 'import dbos, langgraph, psycopg' 2>/dev/null ||
  "$python" -m pip install --quiet --disable-pip-version-check langgraph langgraph-checkpoint-sqlite dbos
"$python" -m pip list 2>/dev/null | grep -iE '^(langgraph|langgraph-checkpoint-sqlite|dbos) ' | sed 's/^/    /'
