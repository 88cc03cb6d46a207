"""How what Kubernetes' own suite says is counted, and what it is told of the driver. The suite itself is `make conformance`."""

import json
import re

import pytest
from cluster import tools
from conformance import __main__ as conformance
from conformance import images, report, sample, skips, suite
from conformance.definitions import DEFINITIONS, DRIVER, HERE

EXT4 = "[Testpattern: Dynamic PV (ext4)] volumes should store data"
STRESS = "[Testpattern: Dynamic PV (block volmode)] volume-modify-stress [Feature:X] multiple pods should modify volumes"
MANY = "[Testpattern: Dynamic PV (block volmode)] multiVolume [Slow] should access to two volumes"

REPORT = """<testsuites><testsuite>
<testcase name="[It] External Storage [Driver: d] a" status="passed" time="2.5"/>
<testcase name="[It] External Storage [Driver: d] b" status="failed" time="3"><failure>no such volume</failure></testcase>
<testcase name="[It] External Storage [Driver: d] c" status="skipped">
  <skipped message="skipped - Driver &quot;d&quot; does not support group snapshots - skipping"/></testcase>
<testcase name="[It] External Storage [Driver: d] d" status="skipped"><skipped message="skipped - no reason"/></testcase>
<testcase name="[It] Networking e" status="failed"/>
<testcase name="[SynchronizedBeforeSuite]" status="passed"/>
</testsuite></testsuites>"""


def spec(name: str, driver: str = DRIVER) -> str:
    return f"External Storage [Driver: {driver}] {name}"


@pytest.fixture
def results(tmp_path) -> dict[str, suite.Result]:
    path = tmp_path / "report.xml"
    path.write_text(REPORT)
    return suite.results(path)


def test_only_specs_of_drivers_are_results(results):
    assert [name[-1] for name in results] == ["a", "b", "c", "d"]
    assert results[spec("a", "d")] == suite.Result("passed", "", 2.5)
    assert "no such volume" in results[spec("b", "d")].text


def test_a_skip_without_a_known_reason_is_a_failure(results):
    found = report.summary(results, {spec("e", "d"): "left out"}, 7.4)
    assert (found["passed"], found["failed"], found["seconds"]) == (1, 2, 7)
    assert found["skipped"] == {spec("c", "d"): skips.NO_GROUPS, spec("e", "d"): "left out"}
    assert found["failures"].keys() == {spec("b", "d"), spec("d", "d")}
    assert report.lines(found)[-1] == "1 passed, 2 failed, 2 skipped in 7 s"


@pytest.mark.parametrize("suffix, name, has", [
    ("", EXT4, True), ("", MANY, True), ("", STRESS, False),
    ("-immediate", STRESS, True), ("-immediate", EXT4, False),
    ("-shared", MANY, True), ("-shared", STRESS, False), ("-shared", MANY.replace("Dynamic", "Pre-provisioned"), False),
])  # fmt: skip
def test_each_definition_has_its_specs(suffix, name, has):
    full = spec(name, DRIVER + suffix)
    assert [definition.name for definition in DEFINITIONS if definition.has(full)] == [DRIVER + suffix] * has


def test_a_sample_has_one_spec_for_each_expression(monkeypatch):
    monkeypatch.setattr(sample, "SAMPLE", (r"\(ext4\)\] volumes should store",))
    wanted = spec(EXT4)
    others = [spec(EXT4, f"{DRIVER}-shared"), spec(f"{EXT4} [Slow]"), spec(EXT4.replace("Dynamic", "Pre-provisioned"))]
    assert sample.of([wanted, *others], DRIVER) == [wanted]
    for specs in (others, [wanted, wanted]):
        with pytest.raises(ValueError, match="do not have one spec each"):
            sample.of(specs, DRIVER)


def test_definitions_differ_from_the_files_in_what_they_say(tmp_path):
    for definition in DEFINITIONS:
        content = json.loads(definition.write(tmp_path).read_text())
        storage_class = json.loads((tmp_path / f"{definition.name}.storageclass.json").read_text())
        assert content["DriverInfo"]["Name"] == definition.name
        assert content["StorageClass"]["FromFile"] == str(tmp_path / f"{definition.name}.storageclass.json")
        assert content["VolumeAttributesClass"]["FromFile"] == str(HERE / "volumeattributesclass.yaml")
        assert content["DriverInfo"]["Capabilities"]["persistence"]
        assert content["DriverInfo"]["Capabilities"].items() >= definition.capabilities.items()
        assert storage_class["provisioner"] == DRIVER
        assert storage_class["parameters"].items() >= definition.parameters.items()
        assert storage_class.items() >= definition.storage_class.items()


@pytest.mark.parametrize("left", (0, 1))
def test_what_is_left_in_azure_is_a_failure(monkeypatch, left):
    class Azure:
        def nothing_left(self):
            return not left

        def control(self, method, path):
            return {"disks": left}

    monkeypatch.setattr(conformance, "LEAVING_SECONDS", 0)
    found = conformance.left_behind(Azure())
    assert [(result.status, json.loads(result.text)) for result in found.values()] == [("failed", {"disks": 1})] * left


def test_specs_are_left_out_for_a_reason():
    assert skips.left_out(spec(f"{EXT4} [Disruptive]"))
    assert not skips.left_out(spec(EXT4))
    assert all(len(why) > 20 for why in (*skips.LEFT_OUT.values(), *skips.SKIPPED.values()))


def test_images_are_made_for_the_suite_alone(tmp_path):
    listed = ["r.test/e2e-test-images/agnhost:2", "r.test/e2e-test-images/busybox:1", "r.test/e2e-test-images/busybox:2",
              "r.test/private/agnhost:1", "r.test/e2e-test-images/volume/nfs:1", "r.test/e2e-test-images/jessie-dnsutils:1"]  # fmt: skip
    made = {image.name: image for image in images.made(listed, tmp_path / "agnhost")}
    assert list(made) == [listed[0], listed[1], listed[2], listed[5]]
    assert made[listed[0]].entrypoint == ["/agnhost"] and made[listed[0]].files["/agnhost"] == tmp_path / "agnhost"
    assert made[listed[5]].files["/bin/dd"].name == "dd" and "/bin/dd" not in made[listed[5]].links


def test_the_suite_is_of_the_cluster_s_version():
    found = [re.search(r"k8s.io/kubernetes v(\S+)", (tools.MODULES / module / "go.mod").read_text())[1]
             for module in ("kubernetes", "conformance")]  # fmt: skip
    assert found[0] == found[1]
