"""docs/security.md: what its tables are made of is complete, and what it says in words is so."""

import copy
import re

import pytest
from chart.chart import TREE, of_kind, render

from . import permissions, security
from .permissions import EVERYTHING

HOST = [*TREE.glob("provisioner-lib/host/*.c"), *TREE.glob("node/*.c")]
FOR_ANYONE = {"BLKGETSIZE64", "BLKROGET"}  # ioctls that need no capability


def roles() -> dict[str, list[dict]]:
    return {d["metadata"]["name"]: d["rules"] for kind in ("Role", "ClusterRole") for d in of_kind(render(EVERYTHING), kind)}


def test_every_role_is_explained_and_none_that_is_not_there():
    assert set(permissions.REASONS) == set(roles())


CHANGES = {
    "another verb": lambda rule: rule["verbs"].append("delete"),
    "another resource": lambda rule: rule["resources"].append("secrets"),
    "another group": lambda rule: rule.update(apiGroups=["apps"]),
    "a name": lambda rule: rule.update(resourceNames=["x"]),
    "less": lambda rule: rule["verbs"].pop(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_rule_that_is_not_what_is_explained_is_refused(change):
    rules = copy.deepcopy(roles()["azuredisk-node"])
    CHANGES[change](rules[0])
    with pytest.raises(ValueError, match="azuredisk-node, in test/docs/permissions.py"):
        permissions.explained("azuredisk-node", rules)


def test_names_of_objects_are_explained_one_by_one():
    rules = copy.deepcopy(roles()["azuredisk-sidecar-leases"])
    rules[0]["resourceNames"].append("another")
    with pytest.raises(ValueError, match="another"):
        permissions.explained("azuredisk-sidecar-leases", rules)


@pytest.mark.parametrize("table", ["LEVELS", "LISTENERS", "POLICIES"])
def test_a_row_that_is_missing_is_noticed(monkeypatch, table):
    rows = getattr(security, table)
    monkeypatch.setattr(security, table, dict(list(rows.items())[1:]))
    with pytest.raises(ValueError, match=table):
        security.text()


def test_a_table_that_the_page_lacks_is_noticed(monkeypatch, tmp_path):
    page = tmp_path / "security.md"
    page.write_text(security.PAGE.read_text().replace("<!-- ports: made", "<!-- made"))
    monkeypatch.setattr(security, "PAGE", page)
    with pytest.raises(ValueError, match="has the tables"):
        security.text()


# ---- what the page says in words ----

def test_the_files_that_it_names_are_there():
    for path in re.findall(r"`((?:test|image|charts)/[\w./-]+)`", security.PAGE.read_text()):
        assert (TREE / path).exists(), path


def test_without_restricted_nodes_the_policies_of_the_node_and_the_stand_in_are_gone():
    left = {d["metadata"]["name"] for d in of_kind(render(EVERYTHING | {"rbac.restrictNodes": False}), "ValidatingAdmissionPolicy")}
    gone = set(security.POLICIES) - left
    assert gone == {name for name in security.POLICIES if name.startswith("azuredisk-node")} | {"azuredisk-stand-in", "azuredisk-volumes-in-use"}


def test_policies_fail_closed_and_are_audited():
    for policy in of_kind(render(EVERYTHING), "ValidatingAdmissionPolicy"):
        assert policy["spec"]["failurePolicy"] == "Fail"
    for binding in of_kind(render(EVERYTHING), "ValidatingAdmissionPolicyBinding"):
        assert binding["spec"]["validationActions"] == ["Deny", "Audit"]


def test_no_role_lets_an_account_become_another():
    for name, rules in roles().items():
        for rule in rules:
            assert not {"impersonate", "escalate", "bind", "*"} & set(rule["verbs"]), name
            assert not {"pods/exec", "serviceaccounts/token"} & set(rule["resources"]), name


def test_hooks_are_the_checks_and_what_they_need():
    hooks = {(d["kind"], d["metadata"]["name"]): d["metadata"]["annotations"]["helm.sh/hook"]
             for d in render(EVERYTHING) if "helm.sh/hook" in d["metadata"].get("annotations", {})}
    before = "pre-install,pre-upgrade"
    assert hooks == {
        ("Job", "csi-azuredisk-uninstall-check"): "pre-delete", ("Pod", "csi-azuredisk-install-check"): "test",
        ("Job", "csi-azuredisk-upgrade-check"): before, ("ConfigMap", "csi-azuredisk-upgrade-check"): before,
        ("ServiceAccount", "csi-azuredisk-upgrade-check-sa"): before,
        ("ServiceAccount", "csi-azuredisk-uninstall-check-sa"): "pre-delete",
        **{(kind, f"azuredisk-{check}-check"): event for kind in ("ClusterRole", "ClusterRoleBinding")
           for check, event in (("upgrade", before), ("uninstall", "pre-delete"))}}


def test_network_policies_restrict_ingress_of_what_is_in_the_pod_network():
    peers = {"networkPolicy.schedulers": [{"ipBlock": {"cidr": "10.0.0.4/32"}}]}
    for node, controllers in ((True, set()), (False, {"csi-azuredisk-controller"})):
        values = EVERYTHING | peers | {"networkPolicy.enabled": True, "controller.hostNetwork": node}
        policies = {d["metadata"]["name"]: d["spec"] for d in of_kind(render(values), "NetworkPolicy")}
        assert set(policies) == {"csi-azuredisk-scheduler-extender", "csi-azuredisk-scheduler"} | controllers
        assert all(spec["policyTypes"] == ["Ingress"] for spec in policies.values())


def test_the_ioctls_of_the_plugin_are_those_of_the_table():
    source = "\n".join(path.read_text() for path in HOST)
    named = {name for needed, *_ in security.NODE_CAPABILITIES.values() for name in re.findall(r"\b(?:BLK\w+|SG_IO)\b", needed)}
    assert set(re.findall(r"\b(?:BLK(?!ID)\w+|SG_IO)\b", source)) - FOR_ANYONE == named
    assert not re.findall(r"\b(?:mknod|mknodat|setns|unshare|init_module|settimeofday)\s*\(", source)


def test_no_container_image_has_a_shell():
    from image.driver import driver
    assert not [path for path in driver("x", "0").image.files if re.search(r"/(sh|bash|dash|busybox|apt|dpkg)$", path)]
