"""A web server that finds entities in text: `python examples/web_server.py MODEL --port 8000`.

    curl --data 'Ann Lee, 12 Oak St, Boston' http://127.0.0.1:8000/

The model is loaded once. Each request has its own thread, and all threads share the model. This is safe, because
tagging does not change the model. Tagging releases Python's global interpreter lock, so threads can run in parallel.
"""

from __future__ import annotations

import argparse
import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import corate

LONGEST = 100_000  # bytes of a request


class Handler(BaseHTTPRequestHandler):
    """Answers a POST of text with the entities in it, as JSON."""

    tagger: corate.Tagger

    def do_POST(self) -> None:
        """Tag the text of the request."""
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            return self.answer(HTTPStatus.LENGTH_REQUIRED, {"error": "say how long the text is: Content-Length"})
        if not 0 <= length <= LONGEST:
            return self.answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": f"at most {LONGEST:,} bytes of text"})
        try:
            text = self.rfile.read(length).decode("utf-8")
            found = self.tagger.entities(text)
        except (UnicodeDecodeError, corate.CorateError) as error:
            return self.answer(HTTPStatus.BAD_REQUEST, {"error": str(error)})
        spans = [
            {"type": e.type, "text": e.text, "start": e.start_char, "stop": e.stop_char, "probability": e.probability}
            for e in found
        ]
        return self.answer(HTTPStatus.OK, spans)

    def answer(self, status: HTTPStatus, content: object) -> None:
        """Send JSON."""
        body = json.dumps(content, ensure_ascii=False).encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet; a real server would write a log."""


def server(tagger: corate.Tagger, port: int) -> ThreadingHTTPServer:
    """A server on this machine that is ready to run; port 0 takes any free port."""
    return ThreadingHTTPServer(("127.0.0.1", port), type("TaggerHandler", (Handler,), {"tagger": tagger}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Find entities in text, over HTTP.")
    parser.add_argument("model", help="a model file, such as address.corate")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    with server(corate.load(given.model), given.port) as running:
        print(f"http://127.0.0.1:{running.server_port}/ (stop with Ctrl-C)")
        running.serve_forever()
