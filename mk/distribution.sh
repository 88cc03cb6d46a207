#!/bin/sh
# distribution.sh NAME FOLDER: compiles the programs in a container root of that release of Debian,
# with the packages that a build takes and no others. FOLDER has the roots: one that exists is complete.

set -eu
name=$1
here=$(cd "$(dirname "$0")" && pwd)
tree=${here%/*}
packages=$("$here/packages.sh" names build | tr '\n' ' ')
root=$2/$name-$(echo "$packages" | sha256sum | cut -c 1-16)
partial=$root.partial

if [ ! -e "$root" ]; then
    rm -rf "$partial"
    mkdir -p "$2"
    # It mounts /proc, which rm must not meet after an interruption: the mounts end with a namespace.
    "$here/step.sh" "$name" unshare --mount debootstrap --variant=minbase "$name" "$partial"
    echo force-unsafe-io >"$partial/etc/dpkg/dpkg.cfg.d/unsafe-io"
    "$here/step.sh" "$name: packages" chroot "$partial" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends $packages
    rm -rf "$partial"/var/cache/apt/*
    mkdir "$partial/tree"
    mv "$partial" "$root"
fi

"$here/step.sh" "$name: programs" unshare --mount sh -euc '
    mount --bind "$1" "$2/tree"
    chroot "$2" make -C /tree -k -j "$(nproc)" BUILD="build/distributions/$3" DEVELOPER=1 programs
' sh "$tree" "$root" "$name"
