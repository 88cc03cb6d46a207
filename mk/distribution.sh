#!/bin/sh
# distribution.sh NAME FOLDER: compiles the programs in a container root of that release of Debian,
# with the packages that a build takes and no others. FOLDER has the roots.

set -eu
name=$1
here=$(cd "$(dirname "$0")" && pwd)
packages=$("$here/packages.sh" names build | tr '\n' ' ')
root=$2/$name-$(echo "$packages" | sha256sum | cut -c 1-16)

"$here/root.sh" "$name" "$name" "$root" $packages
"$here/step.sh" "$name: programs" unshare --mount sh -euc '
    mount --bind "$1" "$2/tree"
    chroot "$2" make -C /tree -k -j "$(nproc)" BUILD="build/distributions/$3" DEVELOPER=1 programs
' sh "${here%/*}" "$root" "$name"
