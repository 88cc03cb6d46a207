"""The Helm chart: its values as the schema declares them, and what it renders."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml
from cluster import tools

TREE = Path(__file__).parents[2]
CHART = TREE / "charts/azuredisk-csi-driver"
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
DEFAULTS = yaml.safe_load((CHART / "values.yaml").read_text())

RELEASE, NAMESPACE = "release", "kube-system"
VOLUME_SNAPSHOTS = ("snapshot.storage.k8s.io/v1",)  # of a cluster that has their definitions
FAILOVER = {"failover.enabled": True}
SCHEDULER = {"schedulerExtender.scheduler.enabled": True}
SNAPSHOTS = {"snapshot.enabled": True, "snapshot.VolumeSnapshotClass.enabled": True}
NO_CERT_MANAGER = {"placement.tls.issuerName": "", "metrics.tls.issuerName": ""}  # whose definitions a cluster lacks
BRIEF = os.environ | {"GOGC": "off", "GOMAXPROCS": "1"}  # Helm ends before it is worth tidying up


class Value(NamedTuple):
    """One that users set: a leaf of values.yaml."""

    path: str  # controller.metrics.port
    schema: dict

    @property
    def default(self):
        found = DEFAULTS
        for name in self.path.split("."):
            found = found[name]
        return found

    @property
    def changed(self):
        """Something else that is allowed; of names, none that another value has too."""
        schema = self.schema
        name = self.path.replace(".", "-").lower()
        if re.fullmatch(schema.get("pattern", "$"), name):
            return name
        if "examples" in schema:
            return schema["examples"][0]
        if "enum" in schema:
            return next(word for word in schema["enum"] if word != self.default)
        if schema["type"] == "boolean":
            return not self.default
        return self.default + 1

    @property
    def wrong(self) -> list:
        """What is not allowed."""
        wrong = [7 if self.schema.get("type") == "string" or "enum" in self.schema else {"of": "another type"}]
        if self.schema.get("type") == "object":
            wrong = ["another type"]
        if "maximum" in self.schema:
            wrong += [self.schema["minimum"] - 1, self.schema["maximum"] + 1]
        if "enum" in self.schema or "pattern" in self.schema:
            wrong.append("-?-")
        return wrong


def _resolved(schema: dict) -> dict:
    """With what it refers to."""
    for part in schema.get("allOf", []):
        schema = SCHEMA["definitions"][part["$ref"].rpartition("/")[2]] | schema
    return schema


def of_another_driver(schema: dict) -> bool:
    """A value by a name that only another driver's chart has (other_drivers.py)."""
    return "deprecated" in schema or schema.get("$ref") == "#/definitions/withoutEffect"


def _walk(schema: dict, path: str = "") -> Iterator[Value | str]:
    """Values, and the paths of what they are in."""
    if of_another_driver(schema):
        return
    if "properties" not in schema or "allOf" in schema:
        yield Value(path, _resolved(schema))
        return
    yield path
    for name, member in schema["properties"].items():
        yield from _walk(member, f"{path}.{name}".lstrip("."))


ENTRIES = [entry for entry in _walk(SCHEMA) if not isinstance(entry, Value) or entry.path != "global"]
VALUES = [entry for entry in ENTRIES if isinstance(entry, Value)]
SECTIONS = [entry for entry in ENTRIES if isinstance(entry, str)]


def nested(values: dict[str, object]) -> dict:
    """From paths to what Helm reads."""
    result = {}
    for path, value in values.items():
        *sections, last = path.split(".")
        place = result
        for name in sections:
            place = place.setdefault(name, {})
        place[last] = value
    return result


def helm(*words: str, values: dict[str, object] | None = None, version: str = "1.34.0",
         apis: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
    """`version`: of Kubernetes. `apis`: what the cluster has beside that."""
    tools.build()
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(nested(values or {}), file)
        file.flush()
        cluster = ["--kube-version", version, *(f"--api-versions={api}" for api in apis)]
        return subprocess.run([tools.folder() / "helm", *words, "--values", file.name, *cluster],
                              capture_output=True, text=True, env=BRIEF)


def template(values: dict[str, object] | None = None, namespace: str = NAMESPACE,
             apis: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
    return helm("template", RELEASE, str(CHART), "--namespace", namespace, values=values, apis=apis)


def render(values: dict[str, object] | None = None, namespace: str = NAMESPACE, apis: tuple[str, ...] = ()) -> list[dict]:
    """The objects."""
    return _render(json.dumps(values or {}, sort_keys=True), namespace, apis)


@cache
def _render(values: str, namespace: str, apis: tuple[str, ...]) -> list[dict]:
    done = template(json.loads(values), namespace, apis)
    assert done.returncode == 0, done.stderr
    return documents(done.stdout)


def documents(text: str) -> list[dict]:
    return [document for document in yaml.load_all(text, Loader=yaml.CSafeLoader) if document]


def refusal(values: dict[str, object]) -> str:
    """What Helm has against values of which at least one is wrong. Its schema check tells of each, wherever it is."""
    done = template(values)
    assert done.returncode != 0, "all of them are taken"
    return done.stderr


def is_about(refused: str, path: str) -> bool:
    """Whether a refusal is about this value, too."""
    return f"- at '/{path.replace('.', '/')}': " in refused


def notes(values: dict[str, object] | None = None) -> str:
    """What is told to whoever installs it: as a template among the others, as Helm shows it only with a cluster."""
    with tempfile.TemporaryDirectory() as folder:
        chart = Path(shutil.copytree(CHART, Path(folder) / CHART.name))
        text = (chart / "templates" / "NOTES.txt").read_text()
        (chart / "templates" / "notes.yaml").write_text(
            f'{{{{ define "notes" }}}}{text}{{{{ end }}}}kind: Notes\ntext: {{{{ include "notes" . | toJson }}}}\n')
        done = helm("template", RELEASE, str(chart), "--namespace", NAMESPACE, values=values)
        assert done.returncode == 0, done.stderr
        [found] = of_kind(documents(done.stdout), "Notes")
        return found["text"]


def every_value_changed() -> dict[str, object]:
    """But those that decide whether there is anything at all, and what is not this chart's. The webhook treats pods for the
    chart's own scheduler, which has the driver's name in its own."""
    changed = {value.path: value.changed for value in VALUES
               if not value.path.endswith((".create", ".enabled", ".additionalContainers"))}
    own = f"csi-azuredisk-scheduler-extender-{changed['driver.name']}"
    return changed | {"placement.schedulerNames": ["default-scheduler", own]}


def of_kind(objects: list[dict], kind: str) -> list[dict]:
    return [document for document in objects if document["kind"] == kind]


def containers(objects: list[dict]) -> Iterator[dict]:
    for document in objects:
        if document["kind"] in ("Deployment", "DaemonSet"):
            yield from document["spec"]["template"]["spec"]["containers"]
