"""Programs that put disks together, and take whatever looks like a part of theirs."""

from collections.abc import Callable
from typing import NamedTuple

from .guest import Guest


class Claim(NamedTuple):
    """How a disk is made that looks so; how it is taken, as at its appearance; and how it is let go."""

    prepare: Callable[[Guest, str], None]
    take: Callable[[Guest, str], tuple[int, str]]
    has: Callable[[Guest], bool]
    let_go: Callable[[Guest], None]


def _lvm(guest: Guest, *words: str) -> tuple[int, str]:
    """Without the machine's configuration, and without udev."""
    tool = guest.packaged("lvm", *words, "--config", "activation { udev_sync = 0 } backup { backup = 0 archive = 0 }")
    return guest.try_to_run("env", "LVM_SYSTEM_DIR=/run", "LVM_SUPPRESS_FD_WARNINGS=1", *tool)


def _must(done: tuple[int, str]) -> None:
    status, output = done
    assert status == 0, output


def _mdadm(guest: Guest, *words: str) -> tuple[int, str]:
    return guest.try_to_run(*guest.packaged("mdadm", *words))


def _make_array(guest: Guest, device: str) -> None:
    words = ["--create", "/dev/md/raw", "--level=1", "--raid-devices=2", "--metadata=1.2", "--run", device, "missing"]
    _must(_mdadm(guest, *words))
    _stop_arrays(guest)


def _stop_arrays(guest: Guest) -> None:
    _must(_mdadm(guest, "--stop", "--scan"))


def _make_volume_group(guest: Guest, device: str) -> None:
    _must(_lvm(guest, "pvcreate", device))
    _must(_lvm(guest, "vgcreate", "raw", device))
    _must(_lvm(guest, "lvcreate", "--yes", "--activate=n", "--zero=n", "--extents=4", "--name=data", "raw"))


def _has_mapped(guest: Guest) -> bool:
    return guest.run(*guest.packaged("dmsetup", "ls")).strip() != "No devices found"


def _make_nothing(guest: Guest, device: str) -> None:
    pass


def _map(guest: Guest, device: str) -> tuple[int, str]:
    """As multipathd does with every path that it finds."""
    sectors = guest.run("blockdev", "--getsz", device).strip()
    table = f"0 {sectors} multipath 0 0 1 1 round-robin 0 1 1 {device} 1"
    return guest.try_to_run(*guest.packaged("dmsetup", "create", "paths", "--noudevsync", "--table", table))


def _unmap(guest: Guest) -> None:
    guest.run(*guest.packaged("dmsetup", "remove", "paths", "--noudevsync"))


CLAIMS = {
    "MD": Claim(
        _make_array,
        lambda guest, device: _mdadm(guest, "--assemble", "--scan", "--run"),
        lambda guest: "active" in guest.run("cat", "/proc/mdstat"),
        _stop_arrays,
    ),
    "LVM": Claim(
        _make_volume_group,
        lambda guest, device: _lvm(guest, "vgchange", "--activate=y"),
        _has_mapped,
        lambda guest: _must(_lvm(guest, "vgchange", "--activate=n")),
    ),
    "multipath": Claim(_make_nothing, _map, _has_mapped, _unmap),
}
