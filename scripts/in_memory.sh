#!/usr/bin/env bash
# Runs a command whose temporary files are kept in memory, where there is room for them.
#
#   scripts/in_memory.sh COMMAND...
#
# The tests make and drop eight hundred databases of a thousand files each. On a disk, that takes more than half of their time.
set -euo pipefail

kibibytes_min=4000000

free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -1) || free=0
if [ -w /dev/shm ] && [ "${free:-0}" -gt "$kibibytes_min" ]; then export TMPDIR=/dev/shm; fi
exec "$@"
