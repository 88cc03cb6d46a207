"""The alerts of the chart: what they look at exists, each fires when it should and is silent when it should not, and each
has its section in docs/alerts.md."""

import json
import re

import pytest
from docs import findings

from .alert_cases import CASES, Case, Series
from .chart import NAMESPACE, TREE, of_kind, render, template
from . import promtool, queries

PAGE = TREE / "docs/alerts.md"
ON = {"metrics.rules.enabled": True}
TARGET = {"namespace": NAMESPACE, "job": "j", "pod": "a", "node": "n"}  # labels by which a scrape is told from others


def rules(values: dict | None = None) -> dict[str, dict]:
    return {rule["alert"]: rule for group in queries.alerts(values) for rule in group["rules"]}


def test_there_are_none_unless_asked():
    assert not of_kind(render(), "PrometheusRule")
    [rule] = of_kind(render(ON | {"metrics.rules.labels": {"release": "mine"}}), "PrometheusRule")
    assert rule["metadata"]["labels"]["release"] == "mine" and rule["metadata"]["namespace"] == NAMESPACE


def test_promtool_has_nothing_against_them():
    promtool.check_rules(queries.alerts())


def test_every_alert_says_what_it_is():
    for name, rule in rules().items():
        assert re.fullmatch(r"AzureDisk[A-Z]\w+", name)
        assert rule["labels"].keys() == {"severity"} and rule["labels"]["severity"] in ("critical", "warning", "info")
        assert rule["annotations"].keys() == {"summary", "description", "runbook_url"}
        assert all(text for text in rule["annotations"].values())
        assert rule["annotations"]["summary"].endswith((".", "{{ $labels.state }}."))


# ---- which ones ----

@pytest.mark.parametrize("values", ({"schedulerExtender.enabled": False}, {"placement.mode": "none"}))
def test_alerts_of_an_extender_that_is_not_installed_are_left_out(values):
    assert rules().keys() - rules(values).keys() == {"AzureDiskExtenderGone", "AzureDiskExtenderFails"}


def test_alerts_of_what_is_not_installed_are_left_out():
    alike = rules().keys()
    without_nodes = alike - rules({"linux.enabled": False}).keys()
    assert "AzureDiskWrongDisk" in without_nodes and "AzureDiskNodePluginSilent" not in without_nodes


def test_alerts_can_be_left_out_by_name():
    assert rules().keys() - rules({"metrics.rules.disabled": ["AzureDiskOrphans"]}).keys() == {"AzureDiskOrphans"}
    done = template({"metrics.rules.disabled": ["AzureDiskOrphans", "AzureDiskOrphan"]})
    assert done.returncode != 0
    assert "metrics.rules.disabled: there is no alert AzureDiskOrphan; docs/alerts.md" in done.stderr


# ---- their pages ----

def sections() -> list[str]:
    return re.findall(r"^### (\w+)$", PAGE.read_text(), re.MULTILINE)


def test_every_alert_has_its_section_and_every_section_its_alert():
    assert sections() == sorted(sections(), key=list(rules()).index), "in the order of the rules"
    assert set(sections()) == rules().keys()


def test_a_section_says_what_it_means_how_to_look_and_what_to_do():
    for text in PAGE.read_text().split("\n### ")[1:]:
        name = text.split("\n")[0]
        found = re.findall(r"^\*\*(\w+)\.\*\* \S", text, re.MULTILINE)
        assert found == ["Means", "Look", "Do"], name


def test_runbooks_lead_to_the_sections():
    for values, where in (({}, "docs/alerts.md"), ({"metrics.rules.runbooks": "https://h/alerts"}, "https://h/alerts")):
        for name, rule in rules(values).items():
            assert rule["annotations"]["runbook_url"] == f"{where}#{name.lower()}"


def test_pages_name_commands_that_exist():
    """Of azdiskctl."""
    said = {words.split()[0] for words in re.findall(r"azdiskctl ([a-z]+)", PAGE.read_text())}
    assert said <= {"map", "why", "timeline", "check", "failover", "drain"}


# ---- what they look at ----

def test_every_finding_has_one_alert_and_a_danger_none_that_waits_for_ever():
    severity = {kind.name: kind.severity for kind in findings.kinds()}
    alerts = {}
    for name, rule in rules().items():
        for kinds in re.findall(r'azuredisk_audit_findings\{kind=~"([\w|]+)"\}', rule["expr"]):
            for kind in kinds.split("|"):
                assert kind not in alerts, f"{kind} is in two alerts"
                alerts[kind] = rule
    assert alerts.keys() == severity.keys() - {"ForeignDisk"}  # which is as it should be
    provable = {kind.name for kind in findings.kinds() if kind.provable == "true"}
    for kind, rule in alerts.items():
        critical = severity[kind] == "SEVERITY_DANGER" and kind not in provable
        assert (rule["labels"]["severity"] == "critical") == critical, kind
        assert ("for" in rule) != critical, kind


# ---- whether they fire ----

def written(series: Series) -> dict:
    labels = {**TARGET, **series.labels}
    return {"series": f"{series.name}{{{','.join(f'{key}={json.dumps(text)}' for key, text in labels.items())}}}",
            "values": series.values}


def expected(case: Case) -> dict:
    rule = rules()[case.alert]
    kept = re.findall(r"\w+", re.search(r"by \(([^)]*)\)", rule["expr"])[1]) if case.of_target else []
    labels = {name: TARGET[name] for name in kept if name in TARGET} | case.labels
    texts = {key: re.sub(r"\{\{ \$value.*?\}\}", case.value, re.sub(r"\{\{ \$labels\.(\w+) \}\}",
                                                                  lambda found: labels[found[1]], text))
             for key, text in rule["annotations"].items()}
    return {"exp_labels": labels | rule["labels"], "exp_annotations": texts}


def at(case: Case, minute: int, given: list[Series], alerts: list[dict]) -> dict:
    return {"interval": "1m", "input_series": [written(series) for series in given],
            "alert_rule_test": [{"eval_time": f"{minute}m", "alertname": case.alert, "exp_alerts": alerts}]}


def fires(case: Case) -> dict:
    return at(case, case.minute, case.fires, [expected(case)])


def waits(case: Case) -> dict:
    """The moment before it may fire."""
    length, unit = re.fullmatch(r"(\d+)([mhd])", rules()[case.alert]["for"]).groups()
    return at(case, int(length) * {"m": 1, "h": 60, "d": 1440}[unit] - 1, case.fires, [])


def is_silent(case: Case) -> dict:
    return at(case, case.minute, case.silent, [])


def test_every_alert_has_a_case():
    assert {case.alert for case in CASES} == rules().keys()


def test_an_alert_fires_when_it_should_and_only_then():
    for name, rule in rules().items():
        cases = [case for case in CASES if case.alert == name]
        tests = [*map(fires, cases), *map(is_silent, cases), *(map(waits, cases) if "for" in rule else ())]
        promtool.unit_test([{"name": "one", "rules": [rule]}], tests)


def test_a_case_that_is_wrong_is_seen():
    case = next(case for case in CASES if case.alert == "AzureDiskHangs")
    with pytest.raises(AssertionError, match="AzureDiskHangs"):
        promtool.unit_test(queries.alerts(), [at(case, case.minute, case.silent, [expected(case)])])
