"""What is told is true after a crash: azsim is killed and started again in the middle of things."""

import signal
import time

import pytest

from .conftest import compute_client
from .simulator import GROUP, LOCATION, Azsim, describe, disk_id

VMS = [{"name": "vm1", "size": "Standard_D4s_v5", "identity": "system"},
       {"name": "vm2", "size": "Standard_D4s_v5"}]
FAST = ("--latency=get=0,accept=0,token=0,orphan=0", "--latency=create=0,update=0,delete=0,detach=0")


def azsim_with(tmp_path, *flags):
    return Azsim(tmp_path, describe(VMS), *FAST, *flags)


def begin_disk(compute, name):
    return compute.disks.begin_create_or_update(GROUP, name, {
        "location": LOCATION,
        "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 4}})


def begin_attach(compute, vm, name):
    return compute.virtual_machines.begin_attach_detach_data_disks(
        GROUP, vm, {"dataDisksToAttach": [{"diskId": disk_id(name)}]})


def test_an_attach_goes_on_after_a_crash_and_ends_at_its_time(tmp_path):
    with (azsim_with(tmp_path, "--latency=attach=3s") as azsim,
          compute_client(azsim, retries=3) as compute):
        begin_disk(compute, "d").result()
        start = time.monotonic()
        attaching = begin_attach(compute, "vm1", "d")
        azsim.stop(signal.SIGKILL)
        azsim.start()
        assert compute.virtual_machines.get(GROUP, "vm1").provisioning_state == "Updating"
        assert compute.disks.get(GROUP, "d").disk_state == "Unattached"
        profile = attaching.result()  # by the URLs, the token and the CA of before
        assert 3 <= time.monotonic() - start < 30
        assert [disk.name for disk in profile.data_disks] == ["d"]
        assert compute.disks.get(GROUP, "d").disk_state == "Attached"


def test_every_answered_write_is_there_after_a_crash(tmp_path):
    with azsim_with(tmp_path) as azsim, compute_client(azsim, retries=3) as compute:
        for i in range(10):
            begin_disk(compute, f"d{i}")
            azsim.stop(signal.SIGKILL)
            azsim.start()
        assert [disk.name for disk in compute.disks.list()] == [f"d{i}" for i in range(10)]


def test_a_line_that_was_cut_off_is_no_obstacle(tmp_path):
    with azsim_with(tmp_path) as azsim, compute_client(azsim, retries=3) as compute:
        begin_disk(compute, "d").result()
        azsim.stop(signal.SIGKILL)
        with (azsim.state / "state.jsonl").open("a") as state:
            state.write('{"disks": {"/subscr')
        with (azsim.state / "journal.jsonl").open("a") as journal:
            journal.write('{"number": 99')
        azsim.start()
        assert [disk.name for disk in compute.disks.list()] == ["d"]
        entries = azsim.journal()
        assert [entry["number"] for entry in entries] == list(range(1, len(entries) + 1))


def test_the_journal_goes_on_counting(tmp_path):
    with azsim_with(tmp_path) as azsim, compute_client(azsim, retries=3) as compute:
        begin_disk(compute, "d").result()
        before = azsim.journal()
        azsim.stop()
        azsim.start()
        compute.disks.get(GROUP, "d")
        after = azsim.journal()
        assert after[:len(before)] == before
        assert after[-1]["kind"] == "disks.get" and after[-1]["number"] == len(after)


def test_vms_that_were_deleted_stay_deleted_and_added_ones_stay(tmp_path):
    with azsim_with(tmp_path) as azsim:
        azsim.control("DELETE", "vms/vm2", expect=202)
        azsim.control("POST", "vms", {"name": "vm3", "size": "Standard_B2ms"}, expect=201)
        azsim.control("POST", "vms/vm1/deallocate")
        while len(azsim.control("GET", "vms")["vms"]) > 2:
            time.sleep(0.01)
        azsim.stop(signal.SIGKILL)
        azsim.start()
        vms = azsim.control("GET", "vms")["vms"]
        assert [(vm["name"], vm["power"]) for vm in vms] == [("vm1", "deallocated"),
                                                            ("vm3", "running")]


def test_another_configuration_does_not_get_the_state(tmp_path):
    with azsim_with(tmp_path):
        pass
    other = describe(VMS) | {"location": "westus"}
    with pytest.raises(RuntimeError, match="belongs to another configuration"):
        Azsim(tmp_path, other).start()


def test_the_control_interface(tmp_path):
    with azsim_with(tmp_path) as azsim:
        assert azsim.control("GET", "latency")["create"] == "0s"
        changed = azsim.control("PATCH", "latency", {"attach": "1s-2s"})
        assert (changed["attach"], changed["create"]) == ("1s-2s", "0s")
        for body, text in (({"attach": "soon"}, "not a duration"), ({"x": "1s"}, "not a kind"),
                           ({"attach": 1}, "expected a string"), ([], "expected an object")):
            assert text in azsim.control("PATCH", "latency", body, expect=400)["error"]
        assert azsim.control("GET", "latency") == changed

        assert "already" in azsim.control("POST", "vms", VMS[0], expect=409)["error"]
        assert "vm.size" in azsim.control("POST", "vms", {"name": "x"}, expect=400)["error"]
        assert "does not exist" in azsim.control("GET", "vms/x", expect=404)["error"]
        assert "is not one of" in azsim.control("POST", "vms/vm1/explode", expect=404)["error"]
        assert azsim.control("POST", "vms/vm1/powerOff")["power"] == "stopped"
        assert azsim.control("GET", "vms/vm1")["maxDataDisks"] == 8
        azsim.control("GET", "nothing", expect=404)
        (azsim.state / "control.key").write_text("guess")
        azsim.control("GET", "summary", expect=401)


CONFIGS = [
    ({"tenantId": "t"}, 'tenantId: "t" is not a UUID'),
    ({"tenantId": None}, "tenantId: expected a string, a UUID"),
    ({"location": "East US"}, 'location: "East US" is not a region such as eastus'),
    ({"resourceGroup": "a."}, 'resourceGroup: "a." is not 1 to 90 letters'),
    ({"otherResourceGroups": ["ok", ""]}, 'otherResourceGroups[1]: "" is not 1 to 90 letters'),
    ({"clients": {}}, "clients: expected a list"),
    ({"clients": [{"clientId": "x", "clientSecret": "y"}]},
     'clients[0].clientId: "x" is not a UUID'),
    ({"clients": [{"clientId": describe([])["tenantId"], "clientSecret": ""}]},
     'clients[0].clientSecret: "..." is not a secret of at least one character'),
    ({"clients": [{"secret": "y"}]}, "clients[0].secret: unknown member"),
    ({"vms": [{"name": "a"}]}, 'vms[0].size: "" is no known size; there are Standard_B1s '),
    ({"vms": [{"name": "a/b", "size": "Standard_B1s"}]}, 'vms[0].name: "a/b" is not a name of'),
    ({"vms": [{"name": "a", "size": "Standard_B1s", "zone": "4"}]}, 'vms[0].zone: "4" is not one of'),
    ({"vms": [{"name": "a", "size": "Standard_B1s", "zone": 1}]}, "vms[0].zone: expected a string"),
    ({"vms": [{"name": "a", "size": "Standard_B1s", "identity": "user"}]},
     'vms[0].identity: "user" is not "system"'),
    ({"vms": [{"name": "a", "size": "Standard_B1s", "deviceDirectory": "x"}]},
     'vms[0].deviceDirectory: "x" is not an absolute path'),
    ({"vms": [{"name": "a", "size": "Standard_B1s", "color": "red"}]},
     "vms[0].color: unknown member"),
    ({"vms": [{"name": "a", "size": "Standard_B1s"}, {"name": "A", "size": "Standard_B1s"}]},
     'vms[1].name: "A" is vms[0] already'),
    ({"more": 1}, "more: unknown member"),
]


@pytest.mark.parametrize("change, message", CONFIGS, ids=[message[:30] for _, message in CONFIGS])
def test_a_wrong_configuration_is_named_in_one_line(tmp_path, change, message):
    azsim = Azsim(tmp_path, describe(VMS) | change)
    with pytest.raises(RuntimeError) as caught:
        azsim.start()
    line = str(caught.value).strip().splitlines()[-1]
    assert f"azsim: {tmp_path}/vms.json: {message}" in line
