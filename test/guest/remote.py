"""A program in a guest, as a process of the machine: its output, the signals that it gets, its status.

    remote.py ADDRESS PORT WORD ...

If this process is killed, so is the program.
"""

import json
import signal
import socket
import sys


def main() -> int:
    address, port, *words = sys.argv[1:]
    connection = socket.create_connection((address, int(port)))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: connection.sendall(bytes([number])))
    connection.sendall(json.dumps({"start": words}).encode() + b"\n")
    end = b""
    while data := connection.recv(65536):
        text, nul, rest = data.partition(b"\0")
        sys.stdout.buffer.write(b"" if end else text)
        sys.stdout.buffer.flush()
        end += data if end else nul + rest
    return int(end[1:]) & 0xFF if end else 255


if __name__ == "__main__":
    sys.exit(main())
