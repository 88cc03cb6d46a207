"""The custom resources are declared in azdisk.proto, from which the definitions for the API server are
made, and by resources.c for their URLs. All say the same, and what the Azure Disk CSI driver V2 says:
its objects stay valid, its users' scripts find their columns.
"""

import re
from typing import NamedTuple

import pytest

from .crd import TREE, Definition, definitions
from .make_crds import COPIES, texts
from .proto import compiled

DEFINITIONS = definitions()
each_definition = pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.plural)


# ---- the definitions and the messages ----

@pytest.mark.parametrize("folder", COPIES, ids=lambda folder: folder.relative_to(TREE).parts[0])
def test_they_are_made_from_the_messages(folder):
    """After a change of azdisk.proto: make crds."""
    assert {path.name: path.read_text() for path in folder.glob("*.yaml")} == texts()


@each_definition
def test_the_programs_ask_for_it_by_the_same_names(definition):
    source = (TREE / "lib/api/resources.c").read_text()
    [group] = re.findall(r'#define AZDISK ("[^"]+", "[^"]+")', source)
    rows = re.findall(r'AZDISK, ("\w+", "\w+", \w+), &api__(\w+)__descriptor', source)
    namespaced = "true" if definition.scope == "Namespaced" else "false"
    message = re.sub("(?<!^)([A-Z])", r"_\1", definition.kind).lower()
    assert group == f'"{definition.group}", "{definition.version["name"]}"'
    assert (f'"{definition.plural}", "{definition.kind}", {namespaced}', message) in rows
    assert len(rows) == len(DEFINITIONS)


def test_numbers_are_those_of_csi():
    """Access modes are stored as CSI's numbers."""
    [capability] = [m for m in compiled("lib/api/csi.proto").message_type if m.name == "VolumeCapability"]
    [mode] = [enum for m in capability.nested_type if m.name == "AccessMode" for enum in m.enum_type]
    modes = [value.number for value in mode.value]
    [volumes] = [definition for definition in DEFINITIONS if definition.plural == "azvolumes"]
    schema = volumes.fields()["spec.volumeCapability[].access_mode"].schema
    assert list(range(schema["minimum"], schema["maximum"] + 1)) == sorted(modes)


@each_definition
def test_every_field_is_explained(definition):
    """docs/custom-resources.md is made from these."""
    silent = [path for path, field in definition.fields().items() if not field.schema.get("description")]
    assert not silent


@each_definition
def test_times_are_checked(definition):
    times = {path for path in definition.fields() if path.endswith("Time")}
    checked = {path for path, field in definition.fields().items() if field.schema.get("format") == "date-time"}
    assert times == checked


# ---- the definitions and the Azure Disk CSI driver V2 ----

class Upstream(NamedTuple):
    kind: str
    columns: list[tuple]  # name, type, path, priority
    fields: str  # those with * must be there; types as in crd.py, and string where there is none
    values: dict[str, str]  # of fields with a closed set of them


ERROR = "status.error:object status.error.code* status.error.message* status.error.parameters:map status.annotation:map"

UPSTREAM = {
    "azvolumes": Upstream(
        "AzVolume",
        [("State", "string", ".status.state", 0), ("Phase", "string", ".status.detail.phase", 0)],
        f"""
        spec:object* spec.volumeName* spec.maxMountReplicaCount:int32*
        spec.volumeCapability:list-of-object* spec.volumeCapability[].access_type:int32*
        spec.volumeCapability[].fs_type spec.volumeCapability[].mount_flags:list-of-string
        spec.volumeCapability[].access_mode:int32*
        spec.capacityRange:object spec.capacityRange.required_bytes:int64 spec.capacityRange.limit_bytes:int64
        spec.parameters:map spec.secrets:map
        spec.contentVolumeSource:object spec.contentVolumeSource.content_source:int32*
        spec.contentVolumeSource.content_source_id*
        spec.accessibilityRequirements:object
        spec.accessibilityRequirements.requisite:list-of-object
        spec.accessibilityRequirements.requisite[].segments:map
        spec.accessibilityRequirements.preferred:list-of-object
        spec.accessibilityRequirements.preferred[].segments:map
        spec.persistentVolume
        status:object status.detail:object status.detail.volume_id* status.detail.parameters:map
        status.detail.capacity_bytes:int64* status.detail.content_source:object
        status.detail.accessible_topology:list-of-object status.detail.accessible_topology[].segments:map
        status.detail.node_expansion_required:boolean* status.state*
        {ERROR}
        """,
        {
            "spec.volumeCapability[].access_type": "0 1",
            "spec.contentVolumeSource.content_source": "0 1",
            "status.state": "Pending Creating CreationFailed Created Updating UpdateFailed Updated Deleting "
                            "DeletionFailed Deleted",
        },
    ),
    "azvolumeattachments": Upstream(
        "AzVolumeAttachment",
        [("Age", "date", ".metadata.creationTimestamp", 0),
         ("NodeName", "string", ".spec.nodeName", 10),
         ("VolumeName", "string", ".spec.volumeName", 10),
         ("RequestedRole", "string", ".spec.role", 0),
         ("Role", "string", ".status.detail.role", 0),
         ("PreviousRole", "string", ".status.detail.previous_role", 10),
         ("State", "string", ".status.state", 0)],
        f"""
        spec:object* spec.volumeName* spec.volume_id* spec.nodeName* spec.volume_context:map* spec.role*
        status:object status.detail:object status.detail.role* status.detail.previous_role
        status.detail.publish_context:map status.state*
        {ERROR}
        """,
        {
            "spec.role": "Primary Replica",
            "status.detail.role": "Primary Replica",
            "status.detail.previous_role": "Primary Replica",
            "status.state": "Pending Attaching Attached AttachmentFailed Detaching Detached DetachmentFailed "
                            "ForceDetachPending",
        },
    ),
    "azdrivernodes": Upstream(
        "AzDriverNode",
        [("NodeName", "string", ".spec.nodeName", 0),
         ("ReadyForVolumeAllocation", "boolean", ".status.readyForVolumeAllocation", 0),
         ("LastHeartbeatTime", "date", ".status.lastHeartbeatTime", 0),
         ("StatusMessage", "string", ".status.statusMessage", 0)],
        """
        spec:object* spec.nodeName*
        status:object status.lastHeartbeatTime status.readyForVolumeAllocation:boolean status.statusMessage
        status.conditions:list-of-object status.conditions[].type* status.conditions[].status*
        status.conditions[].lastHeartbeatTime status.conditions[].lastTransitionTime
        status.conditions[].reason status.conditions[].message
        """,
        {"status.conditions[].status": "True False Unknown"},
    ),
}

LEFT_OUT = {
    "spec.secrets": "secrets do not belong in an object that everybody may read",
    "status.detail.content_source": "it is spec.contentVolumeSource once more",
}
# Kinds that upstream does not have: it keeps no record of snapshots.
OWN = {"azsnapshots": "AzSnapshot"}
each_of_upstream = pytest.mark.parametrize("definition", [d for d in DEFINITIONS if d.plural in UPSTREAM], ids=lambda d: d.kind)

ADDED = ("spec.readOnly", "status.slots", "status.bootId", "status.primaryNode", "status.readyReplicas",
         "spec.mutableParameters", "status.mutableParameters", "status.modifyError",
         "status.completionPercent")  # with all that is in them


def shared_fields(definition: Definition) -> dict:
    return {path: field for path, field in definition.fields().items() if not path.startswith(ADDED)}


def upstream_fields(plural: str) -> dict[str, tuple[str, bool]]:
    """Type and whether it must be there, by path."""
    found = {}
    for word in UPSTREAM[plural].fields.split():
        path, _, kind = word.rstrip("*").partition(":")
        kind = {"": "string", "map": "map of string"}.get(kind, kind.replace("-", " "))
        found[path] = (kind, word.endswith("*"))
    return found


def test_all_kinds_are_there():
    assert {d.plural: d.kind for d in DEFINITIONS} == {plural: u.kind for plural, u in UPSTREAM.items()} | OWN


@each_definition
def test_names_are_those_of_upstream(definition):
    kind = definition.kind
    assert definition.name == f"{definition.plural}.disk.csi.azure.com"
    assert (definition.group, definition.version["name"], definition.scope) == (
        "disk.csi.azure.com", "v1beta2", "Namespaced")
    assert (definition.names["singular"], definition.names["listKind"]) == (kind.lower(), f"{kind}List")
    assert definition.version["served"] and definition.version["storage"]
    assert definition.version["subresources"] == {"status": {}}


@each_of_upstream
def test_columns_begin_with_those_of_upstream(definition):
    """What comes after them is shown with -o wide only."""
    columns = [(c["name"], c["type"], c["jsonPath"], c.get("priority", 0)) for c in definition.columns]
    theirs = UPSTREAM[definition.plural].columns
    assert columns[: len(theirs)] == theirs
    assert all(priority for _, _, _, priority in columns[len(theirs) :])


@each_of_upstream
def test_fields_are_those_of_upstream(definition):
    ours = {path: field.type for path, field in shared_fields(definition).items()}
    theirs = {path: kind for path, (kind, _) in upstream_fields(definition.plural).items() if path not in LEFT_OUT}
    assert ours == theirs


@each_of_upstream
def test_no_more_is_required_than_upstream_does(definition):
    """Else objects that it wrote would be refused."""
    theirs = {path for path, (_, required) in upstream_fields(definition.plural).items() if required}
    ours = {path for path, field in shared_fields(definition).items() if field.required}
    assert ours <= theirs


@each_of_upstream
def test_values_are_those_of_upstream(definition):
    """A state may also be empty, as it is before anything happened."""
    ours = {path: " ".join(str(value) for value in field.values if value != "")
            for path, field in shared_fields(definition).items() if field.values}
    assert ours == UPSTREAM[definition.plural].values
