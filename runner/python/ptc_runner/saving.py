"""The host's side of snapshots: what it asks, and what it is told."""

import base64
import contextlib
import warnings

from . import snapshot
from .errors import CantCopy, CellStop, Closed

RESTORE_SECONDS = 60.0


def take(session, frame, idle):
    """Sends a snapshot in pieces, or why there is none. Changes nothing of the program."""
    about = {"step": frame["step"], "fence": frame["fence"]}

    def copy():
        if not idle or session.spoiled or session.last.number == 0 or frame["step"] != session.last.number:
            raise CantCopy("the program is not between two cells")
        return snapshot.take(session, frame["bytes"], frame["seconds"])

    data, problem = _undisturbed(session, frame["seconds"], copy)
    if problem is not None:
        session.channel.send({"type": "no_snapshot", **about, "reason": problem})
        return
    size = session.channel.limit // 4 // 4 * 3  # so many bytes make a quarter of a frame in Base64
    for start in range(0, len(data), size):
        text = base64.b64encode(memoryview(data)[start : start + size]).decode()
        last = start + size >= len(data)
        session.channel.send({"type": "snapshot", **about, "piece": start // size, "text": text, "last": last})


def restore(session, frame):
    """Makes this runner, in which nothing was run, what a snapshot is of. If it fails the runner is of no more use."""

    def read():
        text = session.values.take(frame["ref"])
        session.values.forget()
        snapshot.restore(session, base64.b64decode(text, validate=True))

    _, session.spoiled = _undisturbed(session, RESTORE_SECONDS, read)
    session.values.forget()
    session.take(frame)
    session.last.answer = {"type": "restored", **session.last.told(), "problem": session.spoiled}
    session.channel.send(session.last.answer)


def _undisturbed(session, seconds, work):
    """What work gives, or why it gives nothing. What code of the program does meanwhile is stopped in time, and never seen."""
    session.call = session.suspend = _refuse  # instead of its methods
    session.timer.reset(seconds)
    try:
        with _no_warnings():
            session.timer.resume()
            try:
                return work(), None
            finally:
                session.timer.pause()
    except Closed:
        raise
    except CellStop as stop:
        return None, "it takes too long" if stop.kind in ("timed_out", "stopped") else str(stop)
    except MemoryError:
        return None, "there is too little memory"
    except CantCopy as problem:
        return None, str(problem)[: snapshot.LONGEST]
    except BaseException as problem:
        return None, _text(problem)
    finally:
        session.timer.pause()
        del session.call, session.suspend
        session.output.take()


@contextlib.contextmanager
def _no_warnings():
    """None is shown. Their filters are left as they are: they are part of a snapshot."""
    before = warnings._showwarnmsg
    warnings._showwarnmsg = _drop
    try:
        yield
    finally:
        warnings._showwarnmsg = before


def _drop(_):
    pass


def _refuse(*_):
    raise CellStop("code_error", "no tool can be called while a snapshot is made")


def _text(problem):
    with contextlib.suppress(Exception):
        return f"{type(problem).__name__}: {problem}"[: snapshot.LONGEST]
    return type(problem).__name__
