#!/bin/sh
# cross.sh ARCHITECTURE FOLDER WORD...: "make WORD..." for another architecture, as Debian calls it (arm64), in
# a container root of this machine's release of Debian. FOLDER has the roots. The compiler, and all that
# runs, is this machine's; libraries, and what goes into the image, are of that architecture, and its
# programs run by qemu. Where they are: build/ARCHITECTURE.

set -eu
architecture=$1 roots=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
packages=$here/packages.sh

[ "$(id -u)" = 0 ] || {
    echo "make: ARCHITECTURE=$architecture takes a container root, which only root can make" >&2
    exit 1
}
"$packages" check roots
of() { dpkg-architecture -A "$architecture" -q "DEB_TARGET_$1"; }
cpu=$(of GNU_CPU) triplet=$(of MULTIARCH)
release=$(. /etc/os-release && echo "$VERSION_CODENAME")

others=$("$packages" names host)
names="crossbuild-essential-$architecture $("$packages" names build image unit cross | grep -vxF "$others")"
names="$(echo $names) $(echo "$others" | sed "s/$/:$architecture/" | tr '\n' ' ')"
root=$roots/$release-$architecture-$(echo "$names" | sha256sum | cut -c 1-16)

"$here/root.sh" "$architecture" "$release" "$root" $names
unshare --mount sh -euc '
    tree=$1 root=$2 cpu=$3 triplet=$4 architecture=$5
    shift 5
    mount --bind "$root" "$root" # tests make mounts below / private, which takes a mount there
    mount --bind "$tree" "$root/tree"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --rbind /sys "$root/sys"
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        CROSS_COMPILE="$triplet-" PKG_CONFIG_LIBDIR="/usr/lib/$triplet/pkgconfig:/usr/share/pkgconfig" \
        EMULATOR="qemu-$cpu-static" \
        make -C /tree --no-print-directory -j "$(nproc)" BUILD="build/$architecture" "$@"
' sh "${here%/*}" "$root" "$cpu" "$triplet" "$architecture" "$@"
