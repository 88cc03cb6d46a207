"""What the driver claims of the suite: testdriver.yaml, and what differs for the other kinds of volumes.

A definition has one StorageClass, and there are specs that no single class suits: some want the volumes of a pod to be
made where the pod runs, some want volumes before there is a pod, and some want a volume on several nodes.
"""

import copy
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml

HERE = Path(__file__).parent
DRIVER = "disk.csi.azure.com"
SPEC = re.compile(r"\[Driver: (?P<driver>[^]]*)\] (?P<rest>.*)")


@dataclass(frozen=True)
class Definition:
    name: str  # what the suite calls the driver
    specs: str  # an expression: those that it is for, by the rest of their names
    capabilities: dict[str, bool] = field(default_factory=dict)  # that differ from testdriver.yaml
    storage_class: dict[str, object] = field(default_factory=dict)  # what differs from storageclass.yaml
    parameters: dict[str, str] = field(default_factory=dict)  # likewise, of its parameters

    def has(self, spec: str) -> bool:
        found = SPEC.search(spec)
        return found is not None and found["driver"] == self.name and bool(re.fullmatch(self.specs, found["rest"]))

    def write(self, folder: Path) -> Path:
        """For --storage.testdriver."""
        class_file = folder / f"{self.name}.storageclass.json"
        storage_class = _read("storageclass.yaml") | self.storage_class
        storage_class["parameters"] |= self.parameters
        class_file.write_text(json.dumps(storage_class))
        definition = _read("testdriver.yaml")
        definition["StorageClass"]["FromFile"] = str(class_file)
        definition["VolumeAttributesClass"]["FromFile"] = str(HERE / definition["VolumeAttributesClass"]["FromFile"])
        definition["DriverInfo"]["Name"] = self.name
        definition["DriverInfo"]["Capabilities"] |= self.capabilities
        file = folder / f"{self.name}.testdriver.json"
        file.write_text(json.dumps(definition))
        return file


def _read(name: str) -> dict:
    return copy.deepcopy(yaml.safe_load((HERE / name).read_text()))


DYNAMIC = r"\[Testpattern: Dynamic PV [^]]*\]( \[[^]]*\])* "
BEFORE_A_POD = DYNAMIC + "(volume-modify-stress|[a-z-]*performance) .*"
DEFINITIONS = (
    Definition(DRIVER, f"(?!{BEFORE_A_POD}).*"),
    # These make claims, and no pod, and wait until the claims are bound.
    Definition(f"{DRIVER}-immediate", BEFORE_A_POD, storage_class={"volumeBindingMode": "Immediate"}),
    # Disks for all zones, with replicas on other nodes, and for several nodes at the same time. They grow only while no
    # pod uses them.
    Definition(
        f"{DRIVER}-shared",
        DYNAMIC + "(multiVolume|volumes|volume-expand|volumeMode|provisioning|read-write-once-pod) .*",
        capabilities={"RWX": True, "onlineExpansion": False},
        parameters={"skuName": "Premium_ZRS", "maxShares": "3", "maxMountReplicaCount": "1"},
    ),
)
