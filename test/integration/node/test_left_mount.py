"""Volumes that kubelet has forgotten: it was started anew after it had them unpublished, and before it had them
unstaged. (As in https://github.com/kubernetes/kubernetes/issues/121937.)"""

import os

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
    until_done(v.publish)  # by a kubelet that knows of it all the same
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


def test_what_was_only_unpublished_is_unmounted(volume):
    """By a kubelet that could not reconstruct the volume. (As in https://github.com/kubernetes/kubernetes/issues/101791.)"""
    used, left = stage(volume()), leave(volume("left", lun=1))
    used.publish()
    begin_anew(used)
    until_unmounted(left)
    used.unpublish()
    until_unmounted(used)


def test_a_call_of_the_former_kubelet_is_waited_for(plugin, cloud, frozen):
    """Which may take as long as the disk does; the disk is nobody else's meanwhile."""
    disk, freeze = frozen
    v = stage(Volume(plugin, cloud, "data", disk).attach())
    v.publish()
    v.seen("file").write_text("precious")
    freeze(True)
    v.unpublish()
    unstaging = plugin.later(v.unstage)
    plugin.until_it_waits_for_a_disk()
    begin_anew(v)
    until(lambda: cloud.running_job(v.name), "the unmount on record")
    assert cloud.running_job(v.name).startswith("unmount ") and plugin.machine.mounts(v.staging) == 1
    freeze(False)
    unstaging.result(timeout=60)
    until_unmounted(v)


def test_it_stays_on_record_while_it_cannot_be_unmounted(stopped, cloud, disk_of):
    """Also over the end of the plug-in."""
    stopped.run()
    v = leave(Volume(stopped, cloud, "data", disk_of(SMALLEST_EXT4)).attach())
    in_it = os.open(stopped.machine.path(v.staging), os.O_RDONLY)
    try:
        begin_anew(v)
        until(lambda: "what kubelet may have left mounted is looked for again" in stopped.log.read_text(), "a try")
        left = cloud.running_job(v.name)
        assert left.startswith("unmount ")
        stopped.kill()
        stopped.run()
        until(lambda: f'"{left}" stays recorded as running' in stopped.log.read_text(), "a look at what is left")
        assert cloud.running_job(v.name) == left
    finally:
        os.close(in_it)
    begin_anew(v)
    until_unmounted(v)


def test_what_is_given_away_is_unmounted_without_a_write(volume, cloud):
    v = leave(volume())
    cloud.want(v.name, "Replica")
    cloud.report(v.name, role="Replica", lun=v.lun, size=v.disk.size)
    begin_anew(v)
    until_unmounted(v)
    assert "is another node's to use by now" in v.plugin.log.read_text()


def test_what_kubelet_stages_again_is_staged(volume):
    v = leave(volume())
    begin_anew(v)
    until_done(v.stage)
    assert v.plugin.machine.mounts(v.staging) == 1
    v.publish()
    assert v.seen("file").read_text() == "precious"
    v.unpublish()
    v.unstage()
