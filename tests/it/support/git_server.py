"""A git server on loopback for tests: git's own http-backend behind basic auth, with faults.

Usage: git_server.py ROOT TOKEN [CERT KEY]; prints its port. A TOKEN of `-` is the first line of
standard input, since everybody can read arguments. ROOT/fault names what goes wrong:
a status, `slow`, `cut`, `redirect`, `junk`, `forbid-write`, or `race REFERENCE COMMIT` (somebody
else moves a reference between the list and the push). ROOT/faults holds faults that happen once,
one line `KIND METHOD SERVICE` each; SERVICE is `upload` or `receive`, and KIND a status, `limited`,
`limited-unnamed`, `reset`, `lost` (carried out, then reset), `cut`, `html` or `html403`.
ROOT/log gets a line for each request.
"""

import base64
import http.server
import os
import ssl
import subprocess
import sys
import threading
import time

LOCK = threading.Lock()
LIMIT = b"You have exceeded a secondary rate limit. Please wait a few minutes."
PAGE = b"<html><body>Please log in</body></html>"
# Status, headers and body of the faults that are plain answers.
ANSWERS = {
    "limited": (403, [("retry-after", "1")], LIMIT),
    "limited-unnamed": (403, [], LIMIT),
    "429": (429, [("retry-after", "1")], b"slow down"),
    "html": (200, [("content-type", "text/html")], PAGE),
    "html403": (403, [("content-type", "text/html; charset=utf-8")], PAGE),
}
ROOT, TOKEN = sys.argv[1], sys.argv[2]
if TOKEN == "-":
    TOKEN = sys.stdin.readline().strip()
EXPECTED = "Basic " + base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()


def fault():
    try:
        with open(os.path.join(ROOT, "fault")) as file:
            return file.read().split()
    except FileNotFoundError:
        return []


def fault_once(method, path):
    """Takes the first fault of this request out of the list."""
    name = os.path.join(ROOT, "faults")
    with LOCK:
        try:
            with open(name) as file:
                lines = file.read().splitlines()
        except FileNotFoundError:
            return None
        for index, line in enumerate(lines):
            kind, wanted, service = line.split()
            if wanted == method and f"git-{service}-pack" in path:
                del lines[index]
                with open(name, "w") as file:
                    file.write("".join(line + "\n" for line in lines))
                return kind
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, headers=(), cut=False):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self.close_connection = True

    def serve(self):
        size = int(self.headers.get("content-length") or 0)
        content = self.rfile.read(size)
        path, _, query = self.path.partition("?")
        sent = self.headers.get("authorization")
        with open(os.path.join(ROOT, "log"), "a") as log:
            log.write(f"{self.command} {self.path} {'token' if sent == EXPECTED else sent}\n")
        once = fault_once(self.command, self.path)
        if once == "reset":
            self.close_connection = True
            return None
        if once in ANSWERS:
            status, headers, body = ANSWERS[once]
            return self.answer(status, body, headers)
        if once and once.isdigit():
            return self.answer(int(once), b"out of order")
        wrong = fault() or ["none"]
        if wrong[0].isdigit():
            return self.answer(int(wrong[0]), b"so says\n::the server")
        if wrong[0] == "redirect":
            place = self.path.replace("/o/r.git", "/o/renamed.git")
            return self.answer(301, b"", [("location", place)])
        if wrong[0] == "junk":
            kind = f"application/x-git-{'receive' if 'receive' in self.path else 'upload'}-pack-advertisement"
            return self.answer(200, b"zzzz<html>", [("content-type", kind)])
        if sent != EXPECTED:
            return self.answer(401, b"no", [("www-authenticate", 'Basic realm="git"')])
        if wrong[0] == "forbid-write" and "receive-pack" in self.path:
            return self.answer(403, b"Write access to repository not granted.")
        if wrong[0] == "slow":
            time.sleep(5)
        if wrong[0] == "race" and self.command == "POST" and "receive-pack" in path:
            git = ["git", f"--git-dir={ROOT}/o/r.git", "update-ref", wrong[1], wrong[2]]
            subprocess.run(git, check=True)
        env = {
            "PATH": os.environ["PATH"],
            "HOME": ROOT,
            "GIT_PROJECT_ROOT": ROOT,
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("content-type") or "",
            "CONTENT_LENGTH": str(size),
            "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding") or "",
            "REMOTE_USER": "x-access-token",
        }
        done = subprocess.run(["git", "http-backend"], input=content, env=env, capture_output=True)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        status, headers = 200, []
        for line in head.decode().split("\r\n"):
            name, _, value = line.partition(": ")
            if name.lower() == "status":
                status = int(value.split()[0])
            elif name:
                headers.append((name, value))
        if once == "lost":
            self.close_connection = True
            return None
        cut = once == "cut" or (wrong[0] == "cut" and self.command == "POST")
        return self.answer(status, body, headers, cut=cut)

    do_GET = do_POST = serve


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
