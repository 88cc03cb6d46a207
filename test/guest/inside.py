"""What a guest runs as its only service: programs and connections, as the machine around it asks.

Each connection is one request, a line of JSON:

    {"run": [words]}      runs a program; answers with a line of JSON: its status and what it printed
    {"start": [words]}    runs a program as long as the connection is there; answers with what it
                          prints, and after a NUL with its status; every byte received is a signal for it
    {"connect": place}    becomes a connection to a socket's path, or to a port of the loopback
    {"reach": [port, address]}  makes that port of an address one of the loopback, too

Only the standard library: the guest has no other.
"""

import json
import socket
import subprocess
import sys
import threading


def run(connection: socket.socket, words: list[str]) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
        answer = {"status": done.returncode, "output": done.stdout, "error": done.stderr}
    except OSError as failure:
        answer = {"status": 127, "output": "", "error": str(failure)}
    connection.sendall(json.dumps(answer).encode() + b"\n")


def start(connection: socket.socket, words: list[str]) -> None:
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=connection, stderr=connection, start_new_session=True
    )
    threading.Thread(target=pass_signals, args=(connection, process), daemon=True).start()
    status = process.wait()
    connection.sendall(b"\0%d\n" % status)
    connection.shutdown(socket.SHUT_RDWR)


def pass_signals(connection: socket.socket, process: subprocess.Popen) -> None:
    try:
        while signals := connection.recv(16):
            for number in signals:
                process.send_signal(number)
    except OSError:
        pass
    process.kill()


def connect(connection: socket.socket, place: str | int) -> None:
    if isinstance(place, int):
        other = socket.create_connection(("127.0.0.1", place))
    else:
        other = socket.socket(socket.AF_UNIX)
        other.connect(place)
    join(connection, other)


def join(one: socket.socket, other: socket.socket) -> None:
    """Until neither has more to say."""
    back = threading.Thread(target=copy, args=(other, one), daemon=True)
    back.start()
    copy(one, other)
    back.join()


def copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def reach(connection: socket.socket, place: list) -> None:
    port, address = place
    listener = socket.create_server(("127.0.0.1", port), backlog=64)
    connection.sendall(b"{}\n")

    def forward(inner: socket.socket) -> None:
        with inner, socket.create_connection((address, port)) as outer:
            join(inner, outer)

    serve(listener, forward)


def serve(listener: socket.socket, answer) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


REQUESTS = {"run": run, "start": start, "connect": connect, "reach": reach}


def answer(connection: socket.socket) -> None:
    with connection:
        request = b""
        while not request.endswith(b"\n"):
            byte = connection.recv(1)  # what follows the line may not be ours
            if not byte:
                return
            request += byte
        [(name, argument)] = json.loads(request).items()
        try:
            REQUESTS[name](connection, argument)
        except OSError as failure:
            print(f"{name} {argument}: {failure}", flush=True)


if __name__ == "__main__":
    serve(socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=64), answer)
