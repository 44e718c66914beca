"""Ends a process whose tests are over and that waits for threads that they left behind: the whole run would
wait for it. REGREEN_TEST_LIMIT says for how many seconds it may. Works on Python 3.6 and later."""

import os
import threading

# Read before tests can replace them.
_end, _write, _threads = os._exit, os.write, threading.enumerate


def await_end():
    limit = float(os.environ.get("REGREEN_TEST_LIMIT", "0"))

    def end():
        main = threading.main_thread()
        left = [thread.name for thread in _threads() if not thread.daemon and thread is not main]
        if left:
            text = "Error: the process did not end within %g s after its last test and waits for: %s\n"
            _write(2, (text % (limit, ", ".join(left))).encode())
            _end(1)

    if limit > 0:
        timer = threading.Timer(limit, end)
        timer.daemon = True
        timer.start()
