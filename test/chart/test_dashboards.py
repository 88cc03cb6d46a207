"""The dashboards of the chart, as Grafana would read them. What they ask is parsed by promtool, and
test/integration/test_metrics.py compares it with what the programs serve; test/monitoring draws them."""

import re

import pytest

from . import promtool, queries
from .chart import NAMESPACE, TREE, of_kind, render

ON = {"metrics.dashboards.enabled": True}
NAMES = ["overview", "failover", "azure", "node", "volume"]
OF_KUBELET = {f"kubelet_volume_stats_{what}" for what in (
    "capacity_bytes", "used_bytes", "available_bytes", "inodes", "inodes_used")}


def config_maps(values: dict | None = None) -> list[dict]:
    return [found for found in of_kind(render(ON | (values or {})), "ConfigMap")
            if any(name.endswith(".json") for name in found["data"])]


@pytest.fixture(params=NAMES)
def dashboard(request):
    return queries.dashboards()[NAMES.index(request.param)]


def resolved(expression: str) -> str:
    """As Grafana asks it."""
    return re.sub(r"\$(node|namespace|claim)\b", ".*", expression.replace("$__rate_interval", "5m"))


def test_there_are_none_unless_asked():
    assert not [found for found in of_kind(render(), "ConfigMap") if "dashboard" in found["metadata"]["name"]]


def test_each_is_where_the_sidecar_of_grafana_looks():
    found = config_maps({"metrics.dashboards.annotations": {"grafana_folder": "Storage"}})
    assert [entry["metadata"]["name"] for entry in found] == [f"csi-azuredisk-dashboard-{name}" for name in NAMES]
    for entry, name in zip(found, NAMES, strict=True):
        assert entry["metadata"]["namespace"] == NAMESPACE
        assert entry["metadata"]["labels"]["grafana_dashboard"] == "1"
        assert entry["metadata"]["annotations"] == {"grafana_folder": "Storage"}
        assert list(entry["data"]) == [f"azuredisk-{name}.json"]
    assert "annotations" not in config_maps()[0]["metadata"]
    [other, *_] = config_maps({"metrics.dashboards.labels": {"mine": "yes"}})
    assert other["metadata"]["labels"]["mine"] == "yes"


def test_each_is_known_by_its_own_id():
    found = queries.dashboards()
    assert [entry["uid"] for entry in found] == [f"azuredisk-{name}" for name in NAMES]
    assert len({entry["title"] for entry in found}) == len(NAMES)
    assert all(entry["tags"] == ["azuredisk"] and entry["schemaVersion"] >= 36 for entry in found)


def test_panels_have_a_place_of_their_own(dashboard):
    taken = set()
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert len(cells) >= 16 and not cells & taken and at["x"] + at["w"] <= 24
        taken |= cells
    for key in ("id", "title"):
        assert len({panel[key] for panel in dashboard["panels"]}) == len(dashboard["panels"])


def test_panels_say_what_they_show(dashboard):
    source = {"type": "prometheus", "uid": "${datasource}"}
    assert dashboard["templating"]["list"][0]["type"] == "datasource"
    for panel in dashboard["panels"]:
        assert panel["title"] and panel["type"] in ("stat", "timeseries") and panel["datasource"] == source
        assert panel["fieldConfig"]["defaults"]["unit"] in ("none", "ops", "s", "bytes", "percentunit")
        assert panel["targets"] and all(target["datasource"] == source for target in panel["targets"])
        defaults = panel["fieldConfig"]["defaults"]
        assert ("decimals" in defaults) == (panel["type"] == "stat" and defaults["unit"] == "none")
        steps = defaults["thresholds"]["steps"]
        assert steps[0]["value"] is None and len(steps) == 1 + (len({step["color"] for step in steps}) == 2)


def test_calls_are_named_by_their_last_part(dashboard):
    for panel in dashboard["panels"]:
        named = any("{{method_name}}" in target["legendFormat"] for target in panel["targets"])
        found = [change["options"] for change in panel.get("transformations", []) if change["id"] == "renameByRegex"]
        assert len(found) == named
        for change in found:
            name = re.sub(change["regex"], change["renamePattern"].replace("$", "\\"), "/csi.v1.Node/NodeStageVolume 13")
            assert name == "NodeStageVolume 13" and not change["regex"].startswith("/"), "a slash: an expression with flags"


def test_variables_are_those_that_are_used(dashboard):
    known = {variable["name"] for variable in dashboard["templating"]["list"]}
    text = str([panel["targets"] for panel in dashboard["panels"]] + dashboard["templating"]["list"])
    assert {name.strip("{}") for name in re.findall(r"\$(\{?\w+\}?)", text)} - {"__rate_interval", "__all"} == known


def test_promtool_can_read_what_they_ask():
    asked = [resolved(target["expr"]) for _, target in queries.targets()]
    asked += [re.fullmatch(r"label_values\((.*), \w+\)", resolved(query))[1] for query in queries.variables().values()]
    promtool.check_rules([{"name": "panels", "rules": [
        {"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(asked)]}])
    with pytest.raises(AssertionError, match="could not parse expression"):
        promtool.check_rules([{"name": "panels", "rules": [{"record": "panel:0", "expr": asked[0] + ")"}]}])


def test_legends_name_labels_that_are_left():
    for panel, target in queries.targets(queries.RULES):  # that record what is aggregated below
        outermost = re.sub(r"\(max by \([^)]*\)", "(", target["expr"])
        kept = set(re.findall(r"\w+", " ".join(re.findall(r"by \(([^)]*)\)", outermost))))
        assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) == kept - {"le"}, panel["title"]


def test_panels_ask_only_this_driver_and_kubelet():
    """test/e2e sees that kubelet has them for volumes of the driver."""
    labels = r"\{[^}]*\}|by \([^)]*\)|\$\w+"
    asked = " ".join(re.sub(labels, "", target["expr"]) for _, target in queries.targets())
    others = set(re.findall(r"\b[a-z]+_\w+", asked)) - {"histogram_quantile", "clamp_min"}
    assert {name for name in others if not name.startswith("azuredisk_")} == OF_KUBELET


def test_a_page_tells_of_each():
    text = (TREE / "docs/dashboards.md").read_text()
    assert re.findall(r"^\| `azuredisk-(\w+)` \|", text, re.MULTILINE) == NAMES
