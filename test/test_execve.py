"""A kernel that fails to start a program is asked again."""

import errno
import subprocess
import sys

import pytest

from execve import ATTEMPTS, Popen


@pytest.fixture
def kernel(monkeypatch):
    """Fails with this error as often as it is told."""
    real = subprocess.Popen._execute_child
    failures = []

    def execute(self, *arguments):
        if failures:
            raise OSError(failures.pop(), "execve")
        return real(self, *arguments)

    monkeypatch.setattr(subprocess.Popen, "_execute_child", execute)
    return failures


def output() -> bytes:
    return subprocess.run([sys.executable, "-c", "print(1)"], stdout=subprocess.PIPE, check=True).stdout


def test_pytest_has_it():
    assert subprocess.Popen is Popen


@pytest.mark.parametrize("times", range(ATTEMPTS))
def test_it_is_asked_again(kernel, times):
    kernel += [errno.EFAULT] * times
    assert output() == b"1\n"


@pytest.mark.parametrize("failures", ([errno.EFAULT] * ATTEMPTS, [errno.ENOENT]))
def test_what_does_not_pass_is_told(kernel, failures):
    kernel += failures
    with pytest.raises(OSError) as raised:
        output()
    assert raised.value.errno == failures[0]
