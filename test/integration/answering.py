"""What the tests' own small HTTP servers have in common."""

from http.server import BaseHTTPRequestHandler


class Answering(BaseHTTPRequestHandler):
    """Answers with bytes, and logs no request."""

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass
