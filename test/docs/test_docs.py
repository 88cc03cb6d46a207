"""The reference pages say what is: each is what would be made now of what it is made of."""

import difflib
import re

import pytest

from . import c_tables, metrics, options, parameters, states
from .c_tables import TREE
from .pages import FOLDER, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_would_be_made(name):
    made, found = PAGES[name]().splitlines(), (FOLDER / name).read_text().splitlines()
    differences = list(difflib.unified_diff(found, made, f"docs/{name}", "made now", lineterm="", n=0))
    assert not differences, "run `make docs`:\n" + "\n".join(differences)


def test_every_program_is_described():
    assert set(options.PROGRAMS) == {path.name for path in (TREE / "build/bin").iterdir() if path.is_file()}


@pytest.mark.parametrize("program", options.PROGRAMS)
def test_every_flag_is_explained(program):
    _, flags = options.flags(program)
    log = {"v", "log-format"} if program != "azdisk-probe" else set()  # its answer is all that it says
    assert {flag.name for flag in flags} >= {"help", "version"} | log
    assert not [flag.name for flag in flags if not flag.help]


@pytest.mark.parametrize("program", metrics.PROGRAMS)
def test_every_metric_is_explained(program):
    """And named as Prometheus has it: counters in _total, others in what they count."""
    for metric in metrics.metrics(program):
        assert metric["help"].endswith(".")
        if metric["name"].startswith(metrics.OF_ANOTHER_DRIVER):
            continue
        assert metric["name"].endswith("_total") == (metric["type"] == "METRIC_COUNTER")
        if metric["type"] == "METRIC_HISTOGRAM":
            assert metric["name"].endswith(("_seconds", "_disks"))


def test_every_metric_that_people_are_told_of_exists():
    """By azdiskctl, by a page that is written by hand, or by the chart."""
    exported = {metric["name"] for program in metrics.PROGRAMS for metric in metrics.metrics(program)}
    places = [*TREE.glob("azdiskctl/*.c"), *FOLDER.glob("*.md"), *(TREE / "charts").rglob("*.yaml")]
    told = {(path.name, name) for path in places for name in re.findall(r"\bazuredisk_\w+", path.read_text())}
    series = {name + ending for name in exported for ending in ("", "_bucket", "_sum", "_count")}
    assert "diagnosis.c" in {place for place, _ in told}
    assert not [(place, name) for place, name in sorted(told) if name not in series]


def test_every_parameter_is_explained():
    found = parameters.parameters()
    assert {"skuName", "maxShares", "userAgent"} <= {parameter.name for parameter in found}
    assert not [parameter.name for parameter in found if not parameter.help.endswith(".")]


def test_every_state_and_event_is_explained():
    header = "controller/attachment/states.h"
    for prefix in ("PHASE_", "ON_", "ANSWER_"):
        names = re.findall(rf"^    ({prefix}\w+),", (TREE / header).read_text(), re.MULTILINE)
        assert names and list(states.texts(header, prefix)) == names


def test_links_lead_somewhere():
    for path in FOLDER.glob("*.md"):
        for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
            assert (path.parent / link).exists(), f"{path.name}: {link}"


# Pages of which no test types each command, and why.
NOT_TYPED = {
    "azdiskctl.md": "what it prints is compared by tests of its own",
    "disk-safety.md": "its disk came from elsewhere",
    "install.md": "how to install is typed by all that install the driver (test/deployment), a second deployment by none",
    "snapshots.md": "it is about files of another project, from the network",
}


def test_commands_are_typed_by_tests():
    """Those of blocks in `sh` (test/deployment/page.py)."""
    tests = [path.read_text() for folder in ("e2e", "moves") for path in (TREE / "test" / folder).glob("test_*.py")]
    for path in FOLDER.glob("*.md"):
        text = path.read_text()
        assert path.name in NOT_TYPED or not re.findall(r"^```\n(?:kubectl|helm|azdiskctl) .*", text, re.MULTILINE), path.name
        assert "\n```sh\n" not in text or any(f'"{path.name}"' in test for test in tests), path.name


SAID_BY_OTHERS = {"WaitForFirstConsumer", "AADSTS...", "Identity not found", "AuthorizationFailed", "Released", "Retain",
                  "ReadOnly", "Read-only file system", "ResourceExhausted"}


def test_symptoms_are_what_the_programs_say():
    """Messages may be cut anywhere."""
    sources = [path.read_text() for room in ("controller", "node", "provisioner-lib") for path in (TREE / room).rglob("*.c")]
    said = re.sub(r'"\s*"', "", "\n".join(sources)) + (FOLDER / "metrics.md").read_text()
    rows = re.findall(r"^\| (.*?) \|", (FOLDER / "troubleshooting.md").read_text(), re.M)
    symptoms = {symptom for row in rows for symptom in re.findall(r"`(.+?)`", row)} - SAID_BY_OTHERS
    symptoms -= {finding for finding in symptoms if f"## `{finding}`" in (FOLDER / "findings.md").read_text()}
    assert len(symptoms) > 10
    assert not {symptom for symptom in symptoms if symptom not in said}


def test_the_largest_max_shares_is_what_the_driver_allows():
    limits = (TREE / "provisioner-lib" / "disk_sku.c").read_text()
    for least, most, shares in re.findall(r"least_gib = (\d+), \.most_gib = (\d+), \.max_shares = ([2-9]|1\d)", limits):
        assert f"{least} to {most} GiB | {shares} |" in (FOLDER / "sizing.md").read_text()


# ---- how tables in C are read ----

READ = [
    ('{"a", -1, B}', ["a", "-1", "B"]),
    ('{"a \\"quoted\\" " /* and */ "b", A - 1}', ['a "quoted" b', "A - 1"]),
    ('{{LIST("x", "y"), 0}, {NULL, &z}}', [[["x", "y"], "0"], ["NULL", "&z"]]),
    ('{[A] = {"a", 1}, [B] = {"b", 2}}', [["a", "1"], ["b", "2"]]),
    ('{.name = "n", .labels = {"a", "b"},}', {"name": "n", "labels": ["a", "b"]}),
]


@pytest.mark.parametrize("source, value", READ, ids=[source for source, _ in READ])
def test_a_table_is_read(tmp_path, monkeypatch, source, value):
    monkeypatch.setattr(c_tables, "TREE", tmp_path)
    (tmp_path / "file.c").write_text(f"int before;\nstatic const struct row rows[] = {source};\nint after;\n")
    assert c_tables.initializer("file.c", "static const struct row rows[]") == value


@pytest.mark.parametrize("source", ["{a ? b : c}", "{[A], b}", '{.a = "b", "c"}', "{1, ;}"])
def test_what_is_not_understood_is_refused(tmp_path, monkeypatch, source):
    monkeypatch.setattr(c_tables, "TREE", tmp_path)
    (tmp_path / "file.c").write_text(f"struct row rows[] = {source};\n")
    with pytest.raises(ValueError):
        c_tables.initializer("file.c", "struct row rows[]")
