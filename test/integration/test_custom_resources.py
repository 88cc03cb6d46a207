"""The custom resources in a real API server: what kubectl shows of them, what is kept, what is refused.

Objects are made from the definitions themselves, so a field or a state that is added there is tested here.
"""

import copy
import json
import re
import subprocess
import uuid

import pytest
from api.crd import Definition, Field, definitions
from cluster import tools
from kubernetes import client
from kubernetes.client.exceptions import ApiException

from . import custom_resources

DEFINITIONS = {definition.plural: definition for definition in definitions()}
TIME = "2026-01-02T03:04:05Z"


class Objects:
    """The custom resources of a namespace of its own."""

    def __init__(self, apiserver):
        self.apiserver = apiserver
        api = apiserver.client()
        custom_resources.install(api)
        self.custom = client.CustomObjectsApi(api)
        self.namespace = f"objects-{uuid.uuid4()}"
        client.CoreV1Api(api).create_namespace({"metadata": {"name": self.namespace}})

    def place(self, definition: Definition) -> tuple[str, str, str, str]:
        return definition.group, definition.version["name"], self.namespace, definition.plural

    def create(self, definition: Definition, name: str, spec: dict, status: dict) -> None:
        place = self.place(definition)
        body = {"apiVersion": f"{place[0]}/{place[1]}", "kind": definition.kind,
                "metadata": {"name": name}, "spec": spec}
        self.custom.create_namespaced_custom_object(*place, body)
        self.patch(definition, name, "status", status)

    def patch(self, definition: Definition, name: str, part: str, value: dict, **options) -> None:
        patch = (self.custom.patch_namespaced_custom_object if part == "spec"
                 else self.custom.patch_namespaced_custom_object_status)
        patch(*self.place(definition), name, {part: value}, **options)

    def read(self, definition: Definition, name: str) -> dict:
        return self.custom.get_namespaced_custom_object(*self.place(definition), name)

    def table(self, *words: str) -> dict[str, dict[str, str]]:
        """What `kubectl get` prints: cells by object and by column."""
        kubectl = [tools.folder() / "kubectl", "--kubeconfig", self.apiserver.kubeconfig,
                   "--cache-dir", self.apiserver.folder / "kubectl", "--namespace", self.namespace]
        output = subprocess.run([*kubectl, "get", *words], check=True, capture_output=True, text=True).stdout
        found = {}
        for block in output.strip().split("\n\n"):
            head, *lines = block.splitlines()
            columns = [(match[0], match.start()) for match in re.finditer(r"\S+", head)]
            ends = [start for _, start in columns[1:]] + [None]
            for line in lines:
                cells = {name: line[start:end].strip() for (name, start), end in zip(columns, ends)}
                found[cells.pop("NAME")] = cells
        return found


@pytest.fixture(scope="module")
def objects(apiserver):
    return Objects(apiserver)


def example(schema: dict, name: str = "") -> object:
    """A value with every member that the schema has."""
    if values := schema.get("enum"):
        return values[-1]
    match schema["type"]:
        case "object" if "additionalProperties" in schema:
            return {f"{name} key": example(schema["additionalProperties"], name)}
        case "object":
            return {member: example(inner, member) for member, inner in schema["properties"].items()}
        case "array":
            return [example(schema["items"], name)]
        case "string":
            return TIME if schema.get("format") == "date-time" else f"some {name}"
        case "integer":
            return schema.get("maximum", 2 ** (31 if schema["format"] == "int32" else 53) - 1)
        case "boolean":
            return True


def parts(definition: Definition) -> tuple[dict, dict]:
    """Spec and status with all their members."""
    properties = definition.schema["properties"]
    return example(properties["spec"]), example(properties["status"])


each_definition = pytest.mark.parametrize("definition", DEFINITIONS.values(), ids=DEFINITIONS)


# ---- kept ----

@each_definition
def test_every_member_is_kept(objects, definition):
    spec, status = parts(definition)
    objects.create(definition, "whole", spec, status)
    kept = objects.read(definition, "whole")
    assert (kept["spec"], kept["status"]) == (spec, status)


@each_definition
def test_a_status_is_written_apart(objects, definition):
    """So the node plug-in, which may write nothing but statuses, cannot change what is wanted."""
    spec, status = parts(definition)
    objects.create(definition, "apart", spec, status)
    wanted = json.dumps(objects.read(definition, "apart")["spec"])
    objects.custom.patch_namespaced_custom_object_status(
        *objects.place(definition), "apart", {"spec": {"nodeName": "other", "volumeName": "other"}})
    assert json.dumps(objects.read(definition, "apart")["spec"]) == wanted


# ---- refused ----

def wrong_values() -> list:
    rows = []
    for definition in DEFINITIONS.values():
        for field in definition.fields().values():
            if field.values or field.schema.get("format") == "date-time" or "maximum" in field.schema:
                rows.append((definition, field, 2**31 - 1 if field.type == "int32" else "wrong"))
            if "minimum" in field.schema:
                rows.append((definition, field, -1))
    return [pytest.param(*row, id=f"{row[0].plural} {row[1].path} {row[2]}") for row in rows]


def changed(whole: dict, path: str, value: object) -> dict:
    """A copy with one member set, or without it if the value is None."""
    copied = copy.deepcopy(whole)
    place = {"spec": copied, "status": copied}
    *way, last = path.split(".")
    for name in way:
        place = place[name.removesuffix("[]")]
        place = place[0] if name.endswith("[]") else place
    if value is None:
        del place[last]
    else:
        place[last] = value
    return copied


def refusal(objects: Objects, definition: Definition, field: Field, value: object) -> str:
    """What the API server says to a new object of which one member is wrong."""
    spec, status = parts(definition)
    name = f"refused-{uuid.uuid4()}"
    part = field.path.split(".")[0]
    whole = changed({"spec": spec, "status": status}[part], field.path, value)
    with pytest.raises(ApiException) as refused:
        if part == "spec":
            objects.create(definition, name, whole, status)
        else:
            objects.create(definition, name, spec, status)
            objects.custom.replace_namespaced_custom_object_status(
                *objects.place(definition), name, objects.read(definition, name) | {"status": whole})
    assert refused.value.status == 422, refused.value
    return json.loads(refused.value.body)["message"]


@pytest.mark.parametrize("definition, field, value", wrong_values())
def test_a_wrong_value_is_refused(objects, definition, field, value):
    said = refusal(objects, definition, field, value)
    assert field.path.replace("[]", "[0]") in said
    assert str(value) in said
    for allowed in field.values or []:
        assert f'"{allowed}"' in said


def required_members() -> list:
    return [pytest.param(definition, field, id=f"{definition.plural} {field.path}")
            for definition in DEFINITIONS.values() for field in definition.fields().values()
            if field.required and "." in field.path]


@pytest.mark.parametrize("definition, field", required_members())
def test_a_missing_member_is_refused(objects, definition, field):
    said = refusal(objects, definition, field, None)
    assert f"{field.path.replace('[]', '[0]')}: Required value" in said


# ---- shown ----

@pytest.mark.parametrize("plural", ["azvolumes", "azvolumeattachments"])
def test_kubectl_shows_every_state(objects, plural):
    definition = DEFINITIONS[plural]
    spec, status = parts(definition)
    states = [state for state in definition.fields()["status.state"].values if state]
    for state in states:
        objects.create(definition, f"in-{state.lower()}", spec, status | {"state": state})
    table = objects.table(plural)
    assert {name: table[name]["STATE"] for name in table if name.startswith("in-")} == {
        f"in-{state.lower()}": state for state in states}


def test_kubectl_shows_upstreams_columns(apiserver):
    objects = Objects(apiserver)
    capability = {"access_type": 1, "access_mode": 1}
    detail = {"volume_id": "/subscriptions/s", "capacity_bytes": 1, "node_expansion_required": False}
    objects.create(DEFINITIONS["azvolumes"], "pvc-1",
                   {"volumeName": "pvc-1", "maxMountReplicaCount": 1, "volumeCapability": [capability]},
                   {"state": "Created", "detail": detail, "primaryNode": "node-a", "readyReplicas": 1})
    objects.create(DEFINITIONS["azvolumeattachments"], "pvc-1-node-a-attachment",
                   {"volumeName": "pvc-1", "volume_id": "/subscriptions/s", "nodeName": "node-a", "role": "Primary"},
                   {"state": "Attached", "detail": {"role": "Primary", "previous_role": "Replica"}})
    objects.create(DEFINITIONS["azdrivernodes"], "node-a", {"nodeName": "node-a"},
                   {"readyForVolumeAllocation": True, "lastHeartbeatTime": TIME,
                    "statusMessage": "Driver node healthy."})
    table = objects.table("azvolumes,azvolumeattachments,azdrivernodes")
    age = table["azvolumeattachment.disk.csi.azure.com/pvc-1-node-a-attachment"].pop("AGE")
    heartbeat = table["azdrivernode.disk.csi.azure.com/node-a"].pop("LASTHEARTBEATTIME")
    assert re.fullmatch(r"\d+[sm]", age) and re.fullmatch(r"(\d+[ydhms])+", heartbeat)
    assert table == {
        "azvolume.disk.csi.azure.com/pvc-1": {"STATE": "Created", "PHASE": ""},
        "azvolumeattachment.disk.csi.azure.com/pvc-1-node-a-attachment": {
            "REQUESTEDROLE": "Primary", "ROLE": "Primary", "STATE": "Attached"},
        "azdrivernode.disk.csi.azure.com/node-a": {
            "NODENAME": "node-a", "READYFORVOLUMEALLOCATION": "true", "STATUSMESSAGE": "Driver node healthy."},
    }
    wide = objects.table("azvolumeattachments", "--output=wide")["pvc-1-node-a-attachment"]
    assert (wide["NODENAME"], wide["VOLUMENAME"], wide["PREVIOUSROLE"]) == ("node-a", "pvc-1", "Replica")
    wide = objects.table("azvolumes", "--output=wide")["pvc-1"]
    assert (wide["SIZE"], wide["PRIMARY"], wide["READY"], wide["REPLICAS"]) == ("1", "node-a", "1", "1")
    assert set(objects.table("azuredisk")) == set(table)
