#!/usr/bin/env python3
"""Runs the plug-in as on a kernel of before Linux 5.1, for which mount(2) is the only way to mount: system
calls that came later answer ENOSYS. For unit tests test/unit/provisioner-lib/host/old_kernel.c does so."""

import ctypes
import errno
import os
import struct
import sys
from pathlib import Path

PLAIN = Path(__file__).parents[2] / "build/plain/bin/azdisk-node"
FIRST_NEW_CALL = 424  # on all architectures
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_NUMBER, JUMP_GREATER_EQUAL, RETURN = 0x20, 0x35, 0x06  # linux/bpf_common.h
RETURN_ERRNO, RETURN_ALLOW = 0x00050000, 0x7FFF0000  # linux/seccomp.h


def main() -> None:
    rows = [
        (LOAD_NUMBER, 0, 0, 0),
        (JUMP_GREATER_EQUAL, 0, 1, FIRST_NEW_CALL),
        (RETURN, 0, 0, RETURN_ERRNO | errno.ENOSYS),
        (RETURN, 0, 0, RETURN_ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rows), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0)):
        if libc.prctl(*words):
            raise OSError(ctypes.get_errno(), f"prctl {words[0]}")
    os.execv(PLAIN, [PLAIN, *sys.argv[1:]])


main()
