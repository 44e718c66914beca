"""A model on loopback, with the chat protocol, for benchmarks that answer with what is recorded."""

import http.server
import json
import threading


def serve(answer):
    """Starts a server that passes each request to `answer`, which gives the body or `None` at the end; its port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            given = answer(asked)
            if given is None:
                self.send_error(500, "the recording has ended")
                return
            body = json.dumps(given).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]
