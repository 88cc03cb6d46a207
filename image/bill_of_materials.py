"""What is in the driver's image, as CycloneDX: the driver, Debian's packages, and in each the files that are of it.

A package without files is one whose archives are linked into the driver's programs. The text depends on the content of
the image alone.
"""

import hashlib
import json
import uuid
from collections.abc import Iterator

from .archive import Image
from .driver import PROGRAMS, Driver
from .packages import Package, distribution

SPECIFICATION = "1.5"


def bill_of_materials(driver: Driver, version: str) -> str:
    files = {path: _file(path, content) for path, content in _contents(driver.image)}
    components = [_application(files, version), *(_library(driver, files, each) for each in driver.all_packages())]
    identity = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components, sort_keys=True))
    image = {"type": "container", "bom-ref": "image", "name": driver.image.name, "version": version}
    application, *libraries = [component["bom-ref"] for component in components]
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "serialNumber": f"urn:uuid:{identity}",
        "version": 1,
        "metadata": {"component": image},
        "components": components,
        "dependencies": [{"ref": "image", "dependsOn": [application]}, {"ref": application, "dependsOn": libraries}],
    }
    return json.dumps(content, indent=1) + "\n"


def _contents(image: Image) -> Iterator[tuple[str, bytes]]:
    for path, file in image.contents().items():
        yield path, file.read_bytes()
    for path, text in image.texts.items():
        yield path, text.encode()


def _file(path: str, content: bytes) -> dict:
    return {"type": "file", "bom-ref": f"file:{path}", "name": path,
            "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}]}


def _application(files: dict[str, dict], version: str) -> dict:
    return {
        "type": "application",
        "bom-ref": "driver",
        "name": "azuredisk-csi-driver",
        "version": version,
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "components": [files[f"/bin/{program}"] for program in PROGRAMS],
    }


def _library(driver: Driver, files: dict[str, dict], package: Package) -> dict:
    paths = sorted(path for path, owner in driver.packages.items() if owner == package)
    url = package.url(distribution())
    return {
        "type": "library",
        "bom-ref": url,
        "name": package.name,
        "version": package.version,
        "purl": url,
        "components": [files[path] for path in paths],
    }
