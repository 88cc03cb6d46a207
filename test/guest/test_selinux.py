"""Volumes with a label of SELinux, which kubelet gives as a mount option (seLinuxMount of the CSIDriver): no file is
labelled anew, however many there are."""

import pytest
from integration.node.machine import SMALLEST_EXT4, SMALLEST_XFS
from integration.node.volume import Code, refused, wish

from . import selinux
from .disks import Controller
from .guest import HERE
from .node import PLAIN, Node

SIZE = {"ext4": SMALLEST_EXT4, "xfs": SMALLEST_XFS}
FIRST, SECOND, OF_CLASS = selinux.label("c1", "c2"), selinux.label("c2", "c3"), selinux.label("c0", "c1")


@pytest.fixture(scope="module")
def _node(boot):
    guest = boot(selinux.PARAMETER)
    selinux.load_policy(guest)
    return Node(Controller(guest))


@pytest.fixture(params=[PLAIN, HERE / "old_kernel.py"], ids=["new-kernel", "old-kernel"])
def plugin_program(request):
    return request.param


def labelled(fs_type: str, label: str) -> dict:
    """In kubelet's words, which come after those of a StorageClass that names a label for all its volumes."""
    return wish(fs_type, flags=[f'context="{OF_CLASS}"', "noatime", f'context="{label}"'])


def published(v, capability: dict) -> None:
    v.stage(capability)
    v.publish(capability)
    v.cloud.take_over(v.name)


def unpublished(v) -> None:
    v.unpublish()
    v.unstage()


@pytest.mark.parametrize("fs_type", ["ext4", "xfs"])
def test_all_files_have_the_label_of_the_mount(volume, fs_type):
    v = volume(size=SIZE[fs_type])
    for label, name in ((FIRST, "old"), (SECOND, "new")):
        published(v, labelled(fs_type, label))
        v.write(name, "text")
        assert {selinux.label_of(v.guest, path) for path in (v.target, v.target / "old", v.target / name)} == {label}
        unpublished(v)
    published(v, wish(fs_type))
    assert selinux.label_of(v.guest, v.target / "new") == selinux.UNLABELED, "the label was the mount's, not the file's"
    unpublished(v)


def test_a_label_that_the_policy_does_not_know(volume):
    v = volume()
    failure = refused(v.stage, wish(flags=['context="nonsense"']))
    assert failure.code() == Code.INVALID_ARGUMENT
    assert "mount option" in failure.details()
