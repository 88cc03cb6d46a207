"""SELinux in a guest: a policy that knows just enough labels for volumes, and forbids nothing."""

from pathlib import Path

from cluster.command import run

from .guest import Guest

PARAMETER = "security=selinux"  # of the kernel
# The kernel's own objects, in the order that it gives them numbers (security/selinux/include/initial_sid_to_string.h).
OBJECTS = (
    "kernel", "security", "unlabeled", "fs", "file", "file_labels", "init", "any_socket", "port", "netif", "netmsg", "node",
    "igmp_packet", "icmp_socket", "tcp_socket", "sysctl_modprobe", "sysctl", "sysctl_fs", "sysctl_kernel", "sysctl_net",
    "sysctl_net_unix", "sysctl_vm", "sysctl_dev", "kmod", "policy", "scmp_packet", "devnull",
)  # fmt: skip
CLASSES = {
    "process": "transition dyntransition", "filesystem": "mount relabelfrom relabelto associate", "file": "read write",
    "dir": "search",
}  # fmt: skip
UNLABELED = "system_u:system_r:any_t:s0"  # files on which nothing says another label


def label(*categories: str) -> str:
    """That container runtimes give to a pod's files: two categories keep pods apart."""
    return f"system_u:object_r:container_file_t:s0:{','.join(categories)}"


def policy() -> str:
    """In the language of checkpolicy(8)."""
    return "\n".join([
        *(f"class {name}" for name in CLASSES),
        *(f"sid {name}" for name in OBJECTS),
        *(f"class {name} {{ {permissions} }}" for name, permissions in CLASSES.items()),
        "sensitivity s0;",
        "dominance { s0 }",
        *(f"category c{number};" for number in range(4)),
        "level s0:c0.c3;",
        "mlsconstrain dir { search } l1 eq l2;",
        "type any_t;",
        "type container_file_t;",
        "role object_r;",
        "role system_r;",
        "role system_r types any_t;",
        "allow any_t container_file_t:dir { search };",
        "user system_u roles system_r level s0 range s0 - s0:c0.c3;",
        *(f"sid {name} system_u:system_r:any_t:s0" for name in OBJECTS),
        *(f"fs_use_xattr {name} {UNLABELED};" for name in ("ext4", "xfs")),
        f"genfscon proc / {UNLABELED}",
        "",
    ])  # fmt: skip


def load_policy(guest: Guest) -> None:
    source, binary = guest.folder / "policy.conf", guest.folder / "policy"
    source.write_text(policy())
    run(guest.packages / "usr/bin/checkpolicy", "-M", "-U", "allow", "-o", binary, source)
    guest.run("mount", "-t", "selinuxfs", "selinuxfs", "/sys/fs/selinux")
    guest.shell(f"cat {binary} >/sys/fs/selinux/load")


def label_of(guest: Guest, path: Path) -> str:
    return guest.run("stat", "--format=%C", path).strip()
