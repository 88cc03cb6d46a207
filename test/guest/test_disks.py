"""Disks that are found by their SCSI addresses, without udev; and others that are found in their place."""


def test_a_disk_is_found_formatted_and_mounted(volume, node):
    v = volume(lun=3)
    v.stage()
    v.publish()
    v.write("data", "hello")
    assert v.read("data") == "hello"
    assert node.controller.device(3) in v.guest.run("cat", "/proc/mounts")
    v.unpublish()
    v.unstage()
