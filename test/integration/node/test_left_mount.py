"""Volumes that kubelet has forgotten: it was started anew after it had them unpublished, and before it had them
unstaged. (As in https://github.com/kubernetes/kubernetes/issues/121937.)"""

import pytest
from cluster.waiting import until

from .machine import SMALLEST_EXT4
from .plugin import until_done
from .volume import Volume


def begin_anew(v: Volume) -> None:
    """Kubelet asks who the plug-in is, first of all."""
    v.plugin.registration.call("Registration/GetInfo")


def stage(v: Volume) -> Volume:
    """Where kubelet has it staged."""
    v.staging = v.staging.with_name("globalmount")
    v.stage()
    v.cloud.take_over(v.name)
    return v


def leave(v: Volume) -> Volume:
    stage(v)
    v.publish()
    v.seen("file").write_text("precious")
    v.unpublish()
    return v


def until_unmounted(v: Volume) -> None:
    until(lambda: v.plugin.machine.mounts(v.staging) == 0, "the end of the mount")
    until(lambda: v.cloud.running_job(v.name) is None, "the end of the program on record")


def test_what_is_left_is_unmounted(volume):
    v = leave(volume())
    begin_anew(v)
    until_unmounted(v)
    assert "does not call for what is still mounted at" in v.plugin.log.read_text()
    v.publish()  # by a kubelet that knows of it all the same
    assert v.seen("file").read_text() == "precious"
    v.unpublish()
    v.unstage()


@pytest.mark.parametrize("end", ("stop", "kill"))
def test_the_plug_in_is_started_anew_as_well(stopped, cloud, disk_of, end):
    stopped.run()
    v = leave(Volume(stopped, cloud, "data", disk_of(SMALLEST_EXT4)).attach())
    getattr(stopped, end)()
    stopped.run()
    assert stopped.machine.mounts(v.staging) == 1
    begin_anew(v)
    until_unmounted(v)


def test_what_a_pod_has_stays(volume):
    used, left = stage(volume()), leave(volume("left", lun=1))
    used.publish()
    begin_anew(used)
    until_unmounted(left)
    assert used.plugin.machine.mounts(used.staging) == 1 and used.plugin.machine.mounts(used.target) == 1
    used.seen("file").write_text("x")
    used.unpublish()
    used.unstage()


def test_what_kubelet_stages_again_is_staged(volume):
    v = leave(volume())
    begin_anew(v)
    until_done(v.stage)
    assert v.plugin.machine.mounts(v.staging) == 1
    v.publish()
    assert v.seen("file").read_text() == "precious"
    v.unpublish()
    v.unstage()
