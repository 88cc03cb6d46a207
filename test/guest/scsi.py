"""Persistent reservations of a guest's SCSI device, as another program makes them. Run inside the guest:

    scsi.py DEVICE register KEY    this VM's key, whatever it was; 0 takes it away
    scsi.py DEVICE show            the keys in hexadecimal, and after a comma the one that holds a reservation
"""

import ctypes
import fcntl
import struct
import sys

SG_IO = 0x2285
TO_DEVICE, FROM_DEVICE = -2, -3
IN, OUT = 0x5E, 0x5F
READ_KEYS, READ_RESERVATION, REGISTER_AND_IGNORE_EXISTING_KEY = 0, 1, 6
SIZE = 256
HEADER = struct.Struct("@iiBBHIPPPIIiPBBBBHHiII")  # struct sg_io_hdr


def send(device: str, command: bytes, direction: int, data: ctypes.Array) -> None:
    cdb, sense = ctypes.create_string_buffer(command), ctypes.create_string_buffer(64)
    header = bytearray(HEADER.pack(
        ord("S"), direction, len(command), 64, 0, len(data), ctypes.addressof(data), ctypes.addressof(cdb),
        ctypes.addressof(sense), 10_000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    with open(device, "rb") as file:
        for _ in range(5):  # the first answer may be that something has happened
            fcntl.ioctl(file, SG_IO, header)
            status = HEADER.unpack(header)[13]
            if status == 0:
                return
    raise OSError(f"status {status:#x}, sense {sense.raw[:16].hex()}")


def ask(device: str, what: int) -> bytes:
    data = ctypes.create_string_buffer(SIZE)
    send(device, bytes([IN, what, 0, 0, 0, 0, 0, SIZE >> 8, SIZE & 0xFF, 0]), FROM_DEVICE, data)
    length = int.from_bytes(data.raw[4:8], "big")
    return data.raw[8 : 8 + length]


def main(device: str, action: str, key: str = "") -> None:
    if action == "show":
        keys, holder = ask(device, READ_KEYS), ask(device, READ_RESERVATION)
        print(*(f"0x{keys[at : at + 8].hex()}" for at in range(0, len(keys), 8)), ",", f"0x{holder[:8].hex()}" if holder else "")
        return
    parameters = bytes(8) + int(key, 16).to_bytes(8, "big") + bytes(8)
    command = bytes([OUT, REGISTER_AND_IGNORE_EXISTING_KEY, 1, 0, 0, 0, 0, 0, len(parameters), 0])
    send(device, command, TO_DEVICE, ctypes.create_string_buffer(parameters, len(parameters)))


if __name__ == "__main__":
    main(*sys.argv[1:])
