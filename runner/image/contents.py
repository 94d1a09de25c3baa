"""Prints what programs find in the image, as one line of JSON: languages with their versions, and packages.

  contents.py '{"python": ["/usr/bin/python3", "--version"], ...}'

The argument has the command that prints the version of each language. A language whose command is missing is left out.
"""

import importlib.metadata
import json
import os
import re
import subprocess
import sys

LISTED = 60  # packages of each kind; the others are counted
COMMAND_SECONDS = 10
VERSION = re.compile(r"\d+(?:\.\d+)+")
ENTRY = re.compile(r"[A-Za-z0-9@][A-Za-z0-9@/._+~-]{0,99} [A-Za-z0-9][A-Za-z0-9._+~:-]{0,59}")
# Of Debian: packages that are listed in another way, or that programs don't start.
COVERED = re.compile(r"lib|python3|node-|fonts-")


def languages(commands):
    found = {}
    for name, command in commands.items():
        version = version_of(command)
        if version is not None:
            found[name] = version
    return found


def version_of(command):
    """Returns the version that a command prints; None when it can't be executed."""
    try:
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=COMMAND_SECONDS,
            encoding="utf-8",
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = VERSION.search(result.stdout)
    return None if result.returncode != 0 else match[0][:40] if match else ""


def python_packages():
    for distribution in importlib.metadata.distributions():
        yield distribution.metadata["Name"], distribution.version


def node_packages(folder="/node_modules"):
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.startswith("@"):
            for scoped in os.listdir(os.path.join(folder, name)):
                yield f"{name}/{scoped}", node_version(os.path.join(folder, name, scoped))
        elif not name.startswith("."):
            yield name, node_version(os.path.join(folder, name))


def node_version(folder):
    try:
        with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
            return json.load(file).get("version")
    except (OSError, ValueError):
        return None


def debian_packages():
    """The packages that somebody has named: not those of the base image, and not those that were installed for others."""
    base = set(read("/opt/durable-ptc/image/base-packages").split())
    automatic = {
        paragraph["Package"]
        for paragraph in paragraphs("/var/lib/apt/extended_states")
        if paragraph.get("Auto-Installed") == "1"
    }
    for package in paragraphs("/var/lib/dpkg/status"):
        name = package["Package"]
        is_installed = package.get("Status") == "install ok installed"
        if is_installed and name not in base and name not in automatic and not COVERED.match(name):
            # Without the epoch, and without what Debian adds: the version that the program calls its own.
            yield name, package.get("Version", "").split(":")[-1].split("-")[0].split("+")[0]


def paragraphs(file):
    """Yields the paragraphs of a file of dpkg as dicts, without continued lines."""
    for paragraph in read(file).split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if re.match(r"[A-Za-z-]+: ", line))
        if "Package" in fields:
            yield fields


def read(file):
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read()
    except FileNotFoundError:
        return ""


def listed(packages):
    entries = {f"{name} {version}" for name, version in packages if name and version}
    known = sorted(filter(ENTRY.fullmatch, entries), key=str.lower)
    return {"names": known[:LISTED], "more": len(entries) - len(known[:LISTED])}


if __name__ == "__main__":
    contents = {
        "languages": languages(json.loads(sys.argv[1])),
        "packages": {
            "pip": listed(python_packages()),
            "npm": listed(node_packages()),
            "apt": listed(debian_packages()),
        },
    }
    print(json.dumps(contents))
