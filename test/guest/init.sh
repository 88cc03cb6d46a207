#!/bin/bash
# The first process of a guest. Its root is that of the machine, read-only; what is written goes to
# file systems of the guest, and to one folder, which is the machine's too.
#
#   init.sh PACKAGES MODULES SHARE FOLDER WIRE ADDRESS PORT MODULE ...

packages=$1 modules=$2/$(uname -r) share=$3 folder=$4 wire=$5 address=$6 port=$7
shift 7
export PATH=/usr/sbin:/usr/bin:/sbin:/bin

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mount -t cgroup2 cgroup2 /sys/fs/cgroup
case $share in
hostfs) mount -t hostfs hostfs "$folder" -o "$folder" ;;
9p) mount -t 9p folder "$folder" -o trans=virtio,version=9p2000.L,msize=512000 ;;
esac
mkdir -p /dev/shm /run/lock /run/target/pr

# Where modprobe finds the modules, and the kernel modprobe.
mkdir -p "/run/root/lib/modules/$(uname -r)"
mount --bind "$modules" "/run/root/lib/modules/$(uname -r)"
printf '#!/bin/bash\nexec -a modprobe %s/bin/kmod -d /run/root "$@"\n' "$packages" >/run/modprobe
chmod +x /run/modprobe
echo /run/modprobe >/proc/sys/kernel/modprobe

# The SCSI target keeps reservations in a folder, which has to be named before it has devices.
/run/modprobe target_core_mod
mount -t configfs configfs /sys/kernel/config
echo /run/target >/sys/kernel/config/target/dbroot
for module; do /run/modprobe "$module" || echo "no module $module"; done

ip link set lo up
ip link set "$wire" up
ip address add "$address/24" dev "$wire"
exec python3 "${0%/*}/inside.py" "$address" "$port"
