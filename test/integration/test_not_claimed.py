"""What the driver does not do, it does not claim to do, and says so to whoever asks for it all the same."""

import grpc
import pytest

from .driver_world import Controller, World

# By their paths, since some of them have no message in the driver: an empty request is one of any kind.
CALLS = {
    "GET_CAPACITY": ["Controller/GetCapacity"],
    "GROUP_CONTROLLER_SERVICE": [f"GroupController/{name}" for name in (
        "GroupControllerGetCapabilities", "CreateVolumeGroupSnapshot", "DeleteVolumeGroupSnapshot",
        "GetVolumeGroupSnapshot")],
    "SNAPSHOT_METADATA_SERVICE": ["SnapshotMetadata/GetMetadataAllocated", "SnapshotMetadata/GetMetadataDelta"],
}


@pytest.fixture(scope="module")
def channel(tmp_path_factory, apiserver):
    with World(tmp_path_factory.mktemp("not-claimed"), apiserver, nodes=0) as world, Controller(world) as controller, \
            grpc.insecure_channel(f"unix://{controller.socket}") as channel:
        channel.csi = controller.csi
        yield channel


def claimed(csi) -> set[str]:
    found = set()
    for method, kind in (("Controller/ControllerGetCapabilities", "rpc"),
                         ("Identity/GetPluginCapabilities", "service")):
        for row in csi.call(method).capabilities:
            if row.HasField(kind):
                what = getattr(row, kind)
                names = what.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_number
                found.add(names[what.type].name)
    return found


def test_it_is_not_claimed(channel):
    assert "CREATE_DELETE_VOLUME" in claimed(channel.csi)
    assert not claimed(channel.csi) & set(CALLS)


@pytest.mark.parametrize("path", [path for paths in CALLS.values() for path in paths])
@pytest.mark.parametrize("stream", [False, True], ids=["one answer", "many answers"])
def test_it_is_unimplemented(channel, path, stream):
    """At once, by a client that expects one answer, and by one that expects many as SnapshotMetadata has them."""
    call = (channel.unary_stream if stream else channel.unary_unary)(f"/csi.v1.{path}")
    with pytest.raises(grpc.RpcError) as refusal:
        list(call(b"", timeout=10)) if stream else call(b"", timeout=10)
    assert refusal.value.code() == grpc.StatusCode.UNIMPLEMENTED
    assert path.rpartition("/")[2] in refusal.value.details()
