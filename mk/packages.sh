#!/bin/sh
# Debian packages by what they are for (debian-packages.txt).
#
#   packages.sh check build             names what is not there, and fails; installs nothing
#   packages.sh names build ...         their names
#   packages.sh install build lint ...  installs what dpkg does not know, as root or by sudo

set -u
here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:/usr/sbin:/sbin # where Debian has mkfs, for everybody

fail() {
    echo "$*" >&2
    exit 1
}

# Lines of package and evidence.
needed_for() {
    awk -v purpose="$1" '/^[a-z]/ && index("," $2 ",", "," purpose ",") { print $1, $3; any = 1 }
        END { exit !any }' "$here/debian-packages.txt" ||
        fail "no packages are for \"$1\"; there are build, image, unit, lint, test, cluster and roots"
}

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

there() { # package, evidence
    case $2 in
    /*) [ -e "$2" ] ;;
    *.h) printf '#include <%s>\n' "$2" | ${CC:-cc} -E -x c - >/dev/null 2>&1 ;;
    *.pc) pkg-config --exists "${2%.pc}" 2>/dev/null ;;
    dpkg) ! command -v dpkg-query >/dev/null || installed "$1" ;;
    *) command -v "$2" >/dev/null ;;
    esac
}

check() {
    rows=$(needed_for "$1") || exit 1
    missing=$(echo "$rows" | while read -r package evidence; do
        there "$package" "$evidence" || echo "    $package ($evidence)"
    done)
    [ -z "$missing" ] || fail "These Debian packages are missing, or what they bring is not found:
$missing
\"make setup PACKAGES=$1\" installs them; \"make setup\" installs all that the tests need, too."
}

names() {
    for purpose in "$@"; do
        rows=$(needed_for "$purpose") || exit 1
        echo "$rows" | cut -d ' ' -f 1
    done
}

install() {
    packages=$(names "$@") || exit 1
    missing=$(for package in $(echo "$packages" | sort -u); do
        installed "$package" || printf '%s ' "$package"
    done)
    [ -n "$missing" ] || exit 0
    if [ "$(id -u)" = 0 ]; then
        as_root=env
    elif command -v sudo >/dev/null; then
        as_root='sudo env'
    else
        fail "setup: become root, or install sudo; these packages are missing: $missing"
    fi
    set -- $missing
    "$here/step.sh" "1/2 lists of packages" $as_root apt-get update -q &&
        "$here/step.sh" "2/2 packages ($#)" $as_root DEBIAN_FRONTEND=noninteractive \
            apt-get install -q -y --no-install-recommends "$@"
}

"$@"
