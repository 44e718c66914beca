class Stream:
    def __del__(self):
        try:
            self.detach()
        except Exception:
            pass


def forget(cache, key):
    try:
        del cache[key]
    except Exception:
        pass
    return cache


def is_terminal(stream, default):
    try:
        return stream.isatty()
    except Exception:
        pass
    return default
