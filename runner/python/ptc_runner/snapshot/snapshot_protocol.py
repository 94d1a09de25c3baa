"""Answers the host's frames `snapshot` and `restore`."""

import base64
import contextlib
import warnings

from . import program_state
from ..errors import CellStop, HostDisconnected, UnsupportedState

RESTORE_SECONDS = 60.0


def send_snapshot(session, frame, idle):
    """Sends a snapshot in pieces, or the reason why there is none. Does not change the program."""
    protocol = session.protocol
    identity = {"step": frame["step"], "fence": frame["fence"]}

    def dump():
        if not idle or protocol.unusable or protocol.number == 0 or frame["step"] != protocol.number:
            raise UnsupportedState("the program is not between two cells")
        return program_state.dump(session, frame["bytes"], frame["seconds"])

    data, problem = _run_isolated(session, frame["seconds"], dump)
    if problem is not None:
        session.channel.send({"type": "no_snapshot", **identity, "reason": problem})
        return
    size = session.channel.frame_limit // 4 // 4 * 3  # this number of bytes makes a quarter of a frame in Base64
    for start in range(0, len(data), size):
        text = base64.b64encode(memoryview(data)[start : start + size]).decode()
        last = start + size >= len(data)
        session.channel.send({"type": "snapshot", **identity, "piece": start // size, "text": text, "last": last})


def restore_snapshot(session, frame):
    """Restores a snapshot in a fresh runner. If that fails, the runner becomes unusable."""
    protocol = session.protocol

    def restore():
        text = protocol.values.take(frame["ref"])
        protocol.values.clear()
        program_state.restore(session, base64.b64decode(text, validate=True))

    _, protocol.unusable = _run_isolated(session, RESTORE_SECONDS, restore)
    protocol.values.clear()
    protocol.begin_step(frame)
    protocol.send_result({"type": "restored", "problem": protocol.unusable})


def _run_isolated(session, seconds, operation):
    """Returns (result of `operation`, None) or (None, reason of its failure).

    User code that runs meanwhile can't call tools or suspend, is stopped in time, and its output is dropped.
    """
    session.calls_allowed = False
    session.timer.reset(seconds)
    try:
        with _no_warnings():
            session.timer.resume()
            try:
                return operation(), None
            finally:
                session.timer.pause()
    except HostDisconnected:
        raise
    except CellStop as stop:
        return None, "it takes too long" if stop.kind in ("timed_out", "stopped") else str(stop)
    except MemoryError:
        return None, "there is too little memory"
    except UnsupportedState as problem:
        return None, str(problem)[: program_state.MAXIMUM_REASON_CHARACTERS]
    except BaseException as problem:
        return None, _describe(problem)
    finally:
        session.timer.pause()
        session.calls_allowed = True
        session.output.take()


@contextlib.contextmanager
def _no_warnings():
    """Shows no warnings. Does not change the filters of warnings: a snapshot contains them."""
    original = warnings._showwarnmsg
    warnings._showwarnmsg = _ignore_warning
    try:
        yield
    finally:
        warnings._showwarnmsg = original


def _ignore_warning(_):
    pass


def _describe(problem):
    with contextlib.suppress(Exception):
        return f"{type(problem).__name__}: {problem}"[: program_state.MAXIMUM_REASON_CHARACTERS]
    return type(problem).__name__
