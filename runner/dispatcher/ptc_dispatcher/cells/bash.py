"""Cells in bash. Each is a script in a process of its own, so `exit`, `set -e` and EXIT traps are as in any script. It
is a file: with `bash -c`, some errors would end the script, and `$BASH_SOURCE` and `caller` would not know it.

The state goes from cell to cell as text. At the end of a cell, a trap writes variables, functions, options, traps,
aliases, umask and working directory; the next cell reads them at its start (BASH_ENV). Not kept are background jobs,
which end with their cell, and open descriptors. A cell that is killed, or that replaces bash by `exec`, changes no
state.

A script may have its own EXIT trap. For that, `trap` is a function, which puts the trap of the script behind the one that
writes the state.
"""

import json
import os
import re
import shlex
import subprocess
import zlib

from ptc_runner.errors import CellStop

from .command import cell_source
from .process import ProcessCell

BASH = "/bin/bash"
MAXIMUM_STATE_BYTES = 16 << 20
MAXIMUM_ERROR_CHARACTERS = 2_000
NOT_KEPT = "[the variables of this script are not kept: it was killed or replaced, or they are too large]"

# Variables that bash sets itself: restoring one is an error, or has an effect. POSIXLY_CORRECT comes with the option
# `posix`, in which the prelude is no valid script.
OWN_VARIABLE = re.compile(
    r"BASH|BASHOPTS|BASHPID|BASH_(?!COMPAT$|XTRACEFD$)\w*|COMP_\w*|DIRSTACK|EPOCHREALTIME|EPOCHSECONDS|EUID|FUNCNAME|"
    r"GROUPS|HISTCMD|HOSTNAME|HOSTTYPE|LINENO|MACHTYPE|OSTYPE|PIPESTATUS|POSIXLY_CORRECT|PPID|RANDOM|SECONDS|SHELLOPTS|"
    r"SHLVL|SRANDOM|UID|_|__ptc_\w*"
)
DECLARATION = re.compile(r"declare -\S+ (\w+)(?:=|$)")

# `>|` also writes with `set -C`; `builtin` also works when the script has functions of these names. A function does not
# see the traps DEBUG, ERR and RETURN of the script, and bash sets them again at its end if it has removed them. So they
# are written outside of a function, and `trap - ERR` in one sets a command that does nothing.
PRELUDE = r"""
unset BASH_ENV
__ptc_folder=%(folder)s __ptc_shell=$BASHPID __ptc_exit_trap= __ptc_code= __ptc_pipe=
. "$__ptc_folder/restore" 2>/dev/null
__ptc_save() {
  {
    builtin shopt -p
    builtin alias -p
    builtin umask -p
    builtin printf 'builtin cd -- %%q\nbuiltin unset OLDPWD\n' "$PWD"
  } >|"$__ptc_folder/rest"
  { builtin declare -f; builtin declare -Fx; } >|"$__ptc_folder/functions"
  builtin declare -p >|"$__ptc_folder/variables"
  builtin echo "$__ptc_pipe" >|"$__ptc_folder/saved"
}
__ptc_status() { builtin return "$1"; }
trap() {
  local __ptc_action __ptc_signal
  if [[ $# == 0 || $* == -p ]]; then
    for __ptc_signal in $(builtin compgen -A signal); do trap -p "$__ptc_signal"; done
    return 0
  fi
  if [[ $BASHPID != "$__ptc_shell" || " $* " != *' EXIT '* && " $* " != *' 0 '* ]]; then
    builtin trap "$@" || return
    if [[ $1 == - ]]; then
      for __ptc_signal in DEBUG ERR RETURN; do
        [[ " $* " != *" $__ptc_signal "* ]] || builtin trap : "$__ptc_signal"
      done
    fi
    return 0
  fi
  if [[ $1 == -p ]]; then
    [[ -z $__ptc_exit_trap ]] || builtin printf 'trap -- %%s EXIT\n' "${__ptc_exit_trap@Q}"
    return 0
  fi
  [[ $1 != -- ]] || shift
  __ptc_action=$1
  shift
  for __ptc_signal; do
    if [[ $__ptc_signal != EXIT && $__ptc_signal != 0 ]]; then
      builtin trap -- "$__ptc_action" "$__ptc_signal"
    elif [[ $__ptc_action == - ]]; then
      __ptc_exit_trap=
    else
      __ptc_exit_trap=$__ptc_action
    fi
  done
}
builtin trap '
  __ptc_code=$? __ptc_pipe=${PIPESTATUS[*]}
  {
    builtin set +o >|"$__ptc_folder/options"
    builtin set +eEuTx +o posix
    builtin trap -p DEBUG >|"$__ptc_folder/debug"
    builtin trap - DEBUG EXIT
    builtin trap -p >|"$__ptc_folder/traps"
    builtin trap - ERR RETURN
    __ptc_save
  } 2>/dev/null
  if [[ -n $__ptc_exit_trap ]]; then
    . "$__ptc_folder/options" 2>/dev/null
    if ((__ptc_code)); then __ptc_status "$__ptc_code" || eval "$__ptc_exit_trap"; else __ptc_status 0; eval "$__ptc_exit_trap"; fi
  fi' EXIT
RANDOM=%(random)d
. "$__ptc_folder/restore-last" 2>/dev/null
"""


class BashState:
    """What goes from cell to cell, as commands that create it again."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "bash")
        self.before = ""  # options, functions, working directory, variables
        self.last = ""  # traps, and the options that would affect the prelude

    def prepare(self, random):
        """Writes the files that restore the state. Returns the path of the prelude."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        prelude = PRELUDE % {"folder": shlex.quote(self.folder), "random": random}
        for name, text in (("restore", self.before), ("restore-last", self.last), ("prelude", prelude)):
            with open(self._path(name), "wb") as file:
                file.write(text.encode("utf-8", "surrogateescape"))
        remove(self._path("saved"))
        return self._path("prelude")

    def write_script(self, name, source):
        """Returns the path of the script of a cell."""
        path = self._path(name)
        with open(path, "wb") as file:
            file.write(source.encode("utf-8", "replace").replace(b"\0", b""))
        return path

    def take_saved(self):
        """Reads what the trap has written. Returns the exit codes of the last pipeline; None when there is no state."""
        if not os.path.exists(self._path("saved")):
            return None
        variables = "".join(self._declarations())
        self.before = "\n".join((self._read("rest"), self._read("functions"), variables))
        # The DEBUG trap comes last: it is executed before each command that follows it.
        self.last = "\n".join((self._read("options"), self._read("traps"), self._read("debug")))
        return self._read("saved").strip()

    def _declarations(self):
        """Yields the lines of `declare -p`. A line break in a value is written as an escape."""
        for line in self._read("variables").splitlines(keepends=True):
            match = DECLARATION.match(line)
            if match is None or not OWN_VARIABLE.fullmatch(match[1]):
                yield line

    def _path(self, name):
        return os.path.join(self.folder, name)

    def _read(self, name):
        with open(self._path(name), "rb") as file:
            return file.read(MAXIMUM_STATE_BYTES).decode("utf-8", "surrogateescape")

    def set_variable(self, name, value):
        self.before += f"\n{name}={shlex.quote(value)}\n"


class BashCell(ProcessCell):
    script = None

    @classmethod
    def start(cls, session, frame, input_data):
        cell = cls(session)
        try:
            if input_data is not None:
                session.bash.set_variable("input_data", text_of(session, input_data))
            source = cell_source(session, frame)
            seed = f"{session.hello['seed']} {session.hello['session']} {frame['cell']}"
            prelude = session.bash.prepare(zlib.crc32(seed.encode()))
            cell.script = session.bash.write_script(f"cell-{frame['cell']}.sh", source)
            if frame.get("checked") and (problem := syntax_error(cell.script)):
                cell.fail(problem)
                return cell
            environment = {**session.server.environment, "BASH_ENV": prelude}
            cell.start_process([BASH, cell.script], environment, os.getcwd())
        except CellStop as stop:
            cell.fail(str(stop), stop.kind)
        except (OSError, ValueError) as problem:
            cell.fail(f"bash could not be started: {problem}")
        return cell

    def describe_end(self, status):
        try:
            self.pipe = self.session.bash.take_saved()
        except OSError:  # the code has removed the files
            self.pipe = None
        return super().describe_end(status)

    def note(self, status):
        if self.pipe is None:
            return NOT_KEPT
        codes = self.pipe.split()
        return f"[exit codes of the last pipeline: {self.pipe}]" if len(codes) > 1 and set(codes) != {"0"} else ""

    def finish(self):
        super().finish()
        if self.script is not None:
            remove(self.script)


def syntax_error(script):
    """Returns what bash says of a script that it can't read; "" when it can. Nothing of the script is executed."""
    # A script may switch extended patterns on in an earlier cell. Aliases are not known here, and change no valid script
    # into an invalid one that anybody would write.
    check = subprocess.run([BASH, "-O", "extglob", "-n", script], capture_output=True, stdin=subprocess.DEVNULL)
    return check.stderr.decode("utf-8", "replace").strip()[:MAXIMUM_ERROR_CHARACTERS] if check.returncode else ""


def remove(path):
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def text_of(session, container):
    """Returns the JSON text of a value from the host."""
    if "ref" in container:
        return b"".join(session.host.values.pieces_of(container["ref"])).decode()
    return json.dumps(container["value"], ensure_ascii=False)
