#!/bin/sh
# root.sh NAME RELEASE FOLDER PACKAGE...: makes a container root of that release of Debian with those
# packages, as root, unless FOLDER exists: then it is complete. libuv1-dev:arm64 is a package of another
# architecture, and takes the place of this machine's. Has a folder /tree, to mount the tree at.

set -eu
name=$1 release=$2 root=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
partial=$root.partial

[ ! -e "$root" ] || exit 0
rm -rf "$partial"
mkdir -p "${root%/*}"

# It mounts /proc, which rm must not meet after an interruption: the mounts end with a namespace.
"$here/step.sh" "$name: root" unshare --mount debootstrap --variant=minbase "$release" "$partial"
echo force-unsafe-io >"$partial/etc/dpkg/dpkg.cfg.d/unsafe-io"

# A root of this machine's own release has its updates, too.
if [ "$release" = "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" ]; then
    rm -f "$partial/etc/apt/sources.list"
    for sources in sources.list sources.list.d keyrings trusted.gpg.d; do
        [ ! -e "/etc/apt/$sources" ] || cp -R "/etc/apt/$sources" "$partial/etc/apt/"
    done
    cp -Rn /usr/share/keyrings "$partial/usr/share/"
fi

"$here/step.sh" "$name: packages ($#)" chroot "$partial" env DEBIAN_FRONTEND=noninteractive sh -euc '
    for architecture in $(printf "%s\n" "$@" | sed -n "s/.*://p" | sort -u); do
        dpkg --add-architecture "$architecture"
    done
    displaced=$(printf "%s\n" "$@" | sed -n "s/:.*/-/p")
    apt-get update -q
    apt-get full-upgrade -q -y
    apt-get install -q -y --no-install-recommends --allow-remove-essential $displaced "$@"
' sh "$@"
rm -rf "$partial"/var/cache/apt/*
echo 127.0.0.1 localhost >"$partial/etc/hosts"
mkdir "$partial/tree"
mv "$partial" "$root"
