#!/bin/sh
# step.sh NAME COMMAND...: runs the command, as one line with its seconds. What the command prints goes
# to build/logs/setup.log; if it fails, the end of that is shown.

name=$1
shift
log=$(cd "$(dirname "$0")/.." && pwd)/build/logs/setup.log
mkdir -p "${log%/*}"
output=$(mktemp) || exit 1
trap 'rm -f "$output"' EXIT
trap 'exit 130' INT TERM

printf '%-32s ' "$name"
began=$(date +%s)
"$@" >"$output" 2>&1
status=$?
{ printf '==== %s: %s\n' "$name" "$*"; cat "$output"; } >>"$log"
if [ $status -ne 0 ]; then
    printf 'failed\n'
    { tail -n 20 "$output"; echo "$name failed; all that it printed is in $log"; } >&2
    exit $status
fi
printf '%5d s\n' $(($(date +%s) - began))
