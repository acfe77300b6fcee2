#!/usr/bin/env bash
# Runs two commands at once and fails if either fails. The first prints as it goes, the second when the first has ended.
#
#   scripts/side_by_side.sh 'make tests browser' 'make page clippy'
#
# The second runs at a lower priority, so that it takes the processor where the tests wait for something.
set -uo pipefail

log=$(mktemp)
trap 'rm -f "$log"' EXIT

nice -n 5 bash -c "$2" >"$log" 2>&1 &
second=$!
trap 'kill "$second" 2>/dev/null; exit 130' INT TERM

bash -c "$1"
first_failed=$?
wait "$second"
second_failed=$?

cat "$log"
if [ "$first_failed" -ne 0 ]; then printf '\nFAILED: %s\n' "$1" >&2; fi
if [ "$second_failed" -ne 0 ]; then printf '\nFAILED: %s\n' "$2" >&2; fi
exit $((first_failed != 0 || second_failed != 0))
