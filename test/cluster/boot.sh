#!/bin/sh
# First process of a machine: makes the mount namespace look like a machine of its own, then becomes
# the idle reaper whose death is the machine's power cut. Runs in new mount, process and host name
# namespaces, in the machine's network.
#
#   boot.sh DISK HOSTNAME REAPER     DISK: the folder that survives a power cut
set -eu
disk=$1 hostname=$2 reaper=$3

hostname "$hostname"
mount -t proc proc /proc
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/lock

# One path on every machine, another content on each.
mkdir -p /dev/disk/azure
mount --bind "$disk/var-lib" /var/lib
mount --bind "$disk/var-log" /var/log
mount --bind "$disk/disk-azure" /dev/disk/azure

# Files in place of kernel settings that differ by machine, or that are kubelet's but not the host's.
(cd "$disk/proc-sys" && find . -type f) | while read -r setting; do
    [ ! -e "/proc/sys/$setting" ] || mount --bind "$disk/proc-sys/$setting" "/proc/sys/$setting"
done

# Pods and their node share what either mounts; the host sees nothing of it, and what the host
# unmounts goes from here too. After the binds, or they would share with the folders behind them.
mount --make-rshared /

exec "$reaper"
