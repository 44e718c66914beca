"""Leads editable installations of the repository to the checkout in which the tests run.

Python runs this when it starts, because its folder is in PYTHONPATH. `pip install -e` leaves the path
of the user's own files in site-packages, so that the tests of a private checkout would import those.
Such a path gives way to the same one of the checkout, at its place; nothing is added, so that what
cannot be imported without us cannot be imported here. REGREEN_EDITABLE holds the checkout and, behind
it, the folders that it stands for, one per line. Works on Python 3.6 and later.

The sandbox keeps pip from the folders of the interpreter, but pip does not see that and fails. It then
installs for the user, as it does by itself where it has no permission; the user's folder is one of the
private home. What is installed there breaks nothing of the system (PEP 668).
"""

import os
import site
import sys


def _lead():
    folders = os.environ.get("REGREEN_EDITABLE", "").split("\n")
    checkout, sources = folders[0], [os.path.realpath(folder) for folder in folders[1:]]
    library = os.path.dirname(os.path.realpath(os.__file__))

    def led(path):
        if not checkout or not isinstance(path, str) or not path:
            return path
        real = os.path.realpath(path)
        parts = real.split(os.sep)
        # A virtual environment may lie in the repository.
        if "site-packages" in parts or "dist-packages" in parts or real.startswith(library):
            return path
        for source in sources:
            if real == source or real.startswith(source + os.sep):
                own = os.path.join(checkout, os.path.relpath(real, source))
                own = os.path.normpath(own)
                return own if os.path.exists(own) else path
        return path

    sys.path[:] = [led(path) for path in sys.path]
    for name, module in list(sys.modules.items()):
        # The finders of setuptools, and of the package `editables`.
        tables = []
        if name.startswith("__editable__"):
            tables = [getattr(module, "MAPPING", None), getattr(module, "NAMESPACES", None)]
        elif name == "editables.redirector":
            tables = [getattr(getattr(module, "RedirectingFinder", None), "_redirections", None)]
        for table in tables:
            for key, value in list(table.items()) if isinstance(table, dict) else []:
                table[key] = [led(one) for one in value] if isinstance(value, list) else led(value)


def _install_for_user():
    """Makes the pip that starts here install where it may write."""
    with open("/proc/self/cmdline", "rb") as file:
        words = file.read().split(b"\0")[1:]
    while words[0].startswith(b"-") and words[0] != b"-m":
        del words[0]
    is_pip = words[:2] == [b"-m", b"pip"] or os.path.basename(words[0]).startswith(b"pip")
    # An environment may hide the user's folder, so there is no other place in it.
    if not is_pip or not site.ENABLE_USER_SITE or "REGREEN_EDITABLE" not in os.environ:
        return
    import sysconfig
    import tempfile

    try:
        tempfile.TemporaryFile(dir=sysconfig.get_paths()["purelib"]).close()
    except OSError:
        os.environ.setdefault("PIP_USER", "1")
        os.environ.setdefault("PIP_BREAK_SYSTEM_PACKAGES", "1")


def _next():
    """Runs the sitecustomize that this one hides."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    spec = PathFinder.find_spec("sitecustomize", [one for one in sys.path if os.path.abspath(one) != here])
    if spec is not None and spec.loader is not None:
        module = sys.modules["sitecustomize"] = module_from_spec(spec)
        spec.loader.exec_module(module)


try:
    _lead()
except Exception as error:
    sys.stderr.write("regreen: editable installations are not led to the checkout: %s\n" % error)
try:
    _install_for_user()
except Exception as error:
    sys.stderr.write("regreen: pip installs where it does by itself: %s\n" % error)
if __name__ == "sitecustomize":
    _next()
