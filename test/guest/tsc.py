"""The processor's counter, which the machine and all its guests have in common. (The clocks of guests differ by some
milliseconds, by others at each boot.)"""

import ctypes
import functools
import mmap
import time

RDTSC = bytes.fromhex("0f31 48c1e220 4809d0 c3")  # rdtsc; shl rdx, 32; or rax, rdx; ret
MEASURED_S = 0.2

_code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
_code.write(RDTSC)
ticks = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(_code)))


@functools.cache
def hertz() -> float:
    """About; whoever compares times has to have them by the same one."""
    began, first = time.monotonic(), ticks()
    time.sleep(MEASURED_S)
    return (ticks() - first) / (time.monotonic() - began)
