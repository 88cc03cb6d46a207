#!/bin/bash
# The first process of a guest. Its root is that of the machine, read-only; what is written goes to
# file systems of the guest, and to one folder, which is the machine's too.
#
#   init.sh PACKAGES FOLDER ADDRESS PORT MODULE ...

packages=$1 folder=$2 address=$3 port=$4
shift 4
export PATH=/usr/sbin:/usr/bin:/sbin:/bin

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t hostfs hostfs "$folder" -o "$folder"
mkdir -p /dev/shm /run/lock /run/target/pr

# Where modprobe finds the modules, and the kernel modprobe.
modules=lib/modules/$(uname -r)
mkdir -p "/run/root/$modules"
mount --bind "$packages/usr/lib/uml/modules/$(uname -r)" "/run/root/$modules"
printf '#!/bin/bash\nexec -a modprobe %s/bin/kmod -d /run/root "$@"\n' "$packages" >/run/modprobe
chmod +x /run/modprobe
echo /run/modprobe >/proc/sys/kernel/modprobe

# The SCSI target keeps reservations in a folder, which has to be named before it has devices.
/run/modprobe target_core_mod
mount -t configfs configfs /sys/kernel/config
echo /run/target >/sys/kernel/config/target/dbroot
for module; do /run/modprobe "$module" || echo "no module $module"; done

ip link set lo up
ip link set vec0 up
ip address add "$address/24" dev vec0
exec python3 "${0%/*}/inside.py" "$address" "$port"
