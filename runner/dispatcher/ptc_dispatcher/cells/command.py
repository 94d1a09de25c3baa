"""A cell of a language that is a command: its code is a file, which the command executes. It keeps no state."""

import os
import shutil
import tempfile

from ptc_runner.errors import CellStop

from .process import ProcessCell


class CommandCell(ProcessCell):
    folder = None

    @classmethod
    def start(cls, session, frame, language, settings):
        cell = cls(session)
        try:
            cell.folder = tempfile.mkdtemp(prefix=f"{language}-")
            file = os.path.join(cell.folder, settings["file"])
            with open(file, "w", encoding="utf-8", errors="replace") as opened:
                opened.write(cell_source(session, frame))
            command = [part.replace("{file}", file) for part in settings["run"]]
            cell.start_process(command, session.server.environment, os.getcwd())
        except FileNotFoundError:
            cell.fail(f"this image has no {language}: there is no {settings['run'][0]}")
        except CellStop as stop:
            cell.fail(str(stop), stop.kind)
        except OSError as problem:
            cell.fail(f"{language} could not be started: {problem}")
        return cell

    def finish(self):
        super().finish()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def cell_source(session, frame):
    """Returns the code of a cell. Raises CellStop when it does not fit into the memory."""
    return session.host.values.take(frame["ref"]) if "ref" in frame else frame["source"]
