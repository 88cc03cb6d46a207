#!/bin/sh
# step.sh NAME COMMAND...: runs the command, as one line with its seconds. What the command prints goes
# to build/logs/setup.log; if it fails, the end of that is shown.

name=$1
shift
log=$(cd "$(dirname "$0")/.." && pwd)/build/logs/setup.log
mkdir -p "${log%/*}"
{ printf '==== %s: %s\n' "$name" "$*" >>"$log" && before=$(wc -c <"$log"); } || exit 1

printf '%-32s ' "$name"
began=$(date +%s)
"$@" >>"$log" 2>&1
status=$?
if [ $status -ne 0 ]; then
    printf 'failed\n'
    { tail -c +$((before + 1)) "$log" | tail -n 20; echo "$name failed; all that it printed is in $log"; } >&2
    exit $status
fi
printf '%5d s\n' $(($(date +%s) - began))
