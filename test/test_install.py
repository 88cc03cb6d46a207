"""make install and make uninstall."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = {"azdisk-controller", "azdisk-node", "azdisk-scheduler-extender", "azdisk-probe", "azdiskctl"}
PLUGIN_LINKS = {"kubectl-azdisk", "kubectl_complete-azdisk"}


def make(target, folder):
    subprocess.run(["make", "-s", target, f"DESTDIR={folder}", "PREFIX=/usr"], cwd=ROOT, check=True)


def test_what_users_run_is_installed_and_taken_away_again(tmp_path):
    others = tmp_path / "usr/bin/of-somebody-else"
    others.parent.mkdir(parents=True)
    others.touch()
    make("install", tmp_path)
    installed = {path.name for path in others.parent.iterdir()} - {others.name}
    assert installed == PROGRAMS | PLUGIN_LINKS
    assert subprocess.run([others.parent / "azdiskctl", "--version"], check=True).returncode == 0
    assert {(others.parent / link).readlink() for link in PLUGIN_LINKS} == {Path("azdiskctl")}, "wherever the folder is"
    make("uninstall", tmp_path)
    assert list(others.parent.iterdir()) == [others]
