"""Every fuzz target with its committed inputs, and a moment of new ones; that a target which breaks
is noticed."""

import subprocess

import pytest

from fuzz import target

MOMENT = 1  # seconds

BROKEN = """
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return size > 2 && data[0] == 'f' ? data[size] : 0;
}
"""


@pytest.mark.parametrize("name", target.names())
def test_target(name):
    assert any((target.CORPUS / name).iterdir()), "a target without inputs to begin with"
    done = target.run(name, MOMENT)
    assert not done.finding, done.finding
    assert done.executions > done.corpus and done.edges > 0


def test_finding(tmp_path):
    source, program = tmp_path / "broken.c", tmp_path / "broken"
    source.write_text(BROKEN)
    subprocess.run(["clang-14", "-fsanitize=fuzzer,address", "-o", program, source], check=True)
    done = target.run("broken", 20, program, tmp_path)
    assert "heap-buffer-overflow" in done.finding
    command = done.finding.splitlines()[-1]
    again = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert again.returncode != 0 and "heap-buffer-overflow" in again.stderr
