"""Recognises commands that destroy much: `rm -rf /`, `dd` to a device, `mkfs`, a fork bomb.

This is a hint for a model that makes a mistake, and no protection: `$(echo rm) -rf /` is not recognised. The words of
the commands are read as a shell reads them, so that a text about such a command is no such command.
"""

import re

MAXIMUM_CHARACTERS = 100_000
MAXIMUM_DEPTH = 3  # of commands in commands, such as `bash -c`

_FORK_BOMB = re.compile(r"([\w:.-]{1,40})\s{0,9}\(\)\s{0,9}\{[^{}]{0,200}?\1\s{0,9}\|\s{0,9}\1\s{0,9}&")
# Commands whose arguments are a command.
_PREFIXES = {
    "sudo", "doas", "env", "nohup", "time", "command", "builtin", "exec", "nice", "ionice", "setsid", "xargs", "timeout",
}  # fmt: skip
_KEYWORDS = {"if", "then", "else", "elif", "do", "while", "until", "!", "{", "("}
_SHELLS = {"sh", "bash", "dash", "zsh", "ksh"}
_ROOTS = re.compile(
    r"/*|/+\*|/+\.{1,2}/*|~/*\*?|\$\{?HOME\}?/*\*?"
    r"|/+(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|sys|usr|var)(?:/+\*?)?"
)
_HARMLESS_DEVICES = re.compile(r"/dev/(?:null|zero|full|stdout|stderr|stdin|tty|fd/\d+|shm/.*)")
_FORMATTERS = re.compile(r"mkfs(?:\..*)?|mke2fs|mkswap|wipefs")


def problem_of_command(command):
    """Returns why a command is refused; None for one that is not recognised."""
    if len(command) > MAXIMUM_CHARACTERS:
        return None
    if _FORK_BOMB.search(command):
        return "it is a fork bomb, which starts processes without end"
    return _problem_of_script(command, 0)


def _problem_of_script(script, depth):
    for words, targets in _commands(script):
        problem = _problem_of_targets(targets) or _problem_of_words(words, depth)
        if problem is not None:
            return problem
    return None


def _problem_of_targets(targets):
    for target in targets:
        if target.startswith("/dev/") and not _HARMLESS_DEVICES.fullmatch(target):
            return f"it writes to the device {target}"
    return None


def _problem_of_words(words, depth):
    words = _without_prefixes(words)
    if not words:
        return None
    name, arguments = words[0].rpartition("/")[2], words[1:]
    options = [word for word in arguments if word.startswith("-") and word != "-"]
    operands = [word for word in arguments if not word.startswith("-")]
    letters = "".join(option[1:] for option in options if not option.startswith("--"))
    is_recursive = "r" in letters or "R" in letters or "--recursive" in options
    root = next((word for word in operands if _ROOTS.fullmatch(word)), None)
    if name == "rm" and is_recursive and (root is not None or "--no-preserve-root" in options):
        return f"it removes all files below {root or '/'}"
    if name in ("chmod", "chown", "chgrp") and is_recursive and root is not None:
        return f"it changes all files below {root}"
    if name == "dd":
        return _problem_of_targets([word[3:] for word in arguments if word.startswith("of=")])
    if name == "shred":
        return _problem_of_targets(operands)
    if _FORMATTERS.fullmatch(name):
        return f"{name} makes a file system, and removes what is there"
    if name == "kill" and operands == [] and options[-1:] == ["-1"] and len(options) > 1:
        return "it ends all processes of the sandbox"
    if name in _SHELLS and depth < MAXIMUM_DEPTH:
        for option, script in zip(arguments, arguments[1:]):
            if re.fullmatch(r"-\w*c", option):
                return _problem_of_script(script, depth + 1)
        return None
    if name == "eval" and depth < MAXIMUM_DEPTH:
        return _problem_of_script(" ".join(arguments), depth + 1)
    if name == "find" and root is not None and arguments == [root, "-delete"]:
        return f"it removes all files below {root}"
    return None


def _without_prefixes(words):
    """Removes assignments, keywords, and commands whose arguments are the command, with their options."""
    at = 0
    while at < len(words):
        word = words[at]
        if re.fullmatch(r"\w+\+?=.*", word, re.DOTALL) or word in _KEYWORDS:
            at += 1
        elif word.rpartition("/")[2] in _PREFIXES:
            at += 1
            while at < len(words) and (words[at].startswith("-") or re.fullmatch(r"[\d.]+[smhd]?", words[at])):
                at += 1
        else:
            break
    return words[at:]


_TOKEN = re.compile(
    r"(?P<space>(?:[ \t]|\\\n)+)"
    r"|(?P<comment>(?<![^\s;&|(])\#[^\n]*)"
    r"|(?P<heredoc><<-?[ \t]*(?P<quote>[\"']?)(?P<end>\w+)(?P=quote)(?!<))"
    r"|(?P<target>(?:\d*|&)>[>|&]?)"
    r"|(?P<operator>&&|\|\||;;|[\n;&|(){}]|`|\$\(|<\(|[<>])"
    r"|(?P<single>'[^']*'?)"
    r"|(?P<ansi>\$'(?:[^'\\]|\\.)*'?)"
    r"|(?P<double>\"(?:[^\"\\]|\\.)*\"?)"
    r"|(?P<escape>\\.?)"
    r"|(?P<plain>[^\s;&|(){}<>'\"`\\$]+|[$<{}])",
    re.DOTALL,
)


def _commands(script):
    """Yields the words of each simple command, and the files to which it writes. Skips here-documents and comments."""
    words, targets, word, takes_target, heredocs = [], [], None, False, []
    at = 0

    def end_word():
        nonlocal word, takes_target
        if word is not None:
            (targets if takes_target else words).append(word)
            word, takes_target = None, False

    while at < len(script):
        match = _TOKEN.match(script, at)
        if match is None:
            at += 1
            continue
        at, kind, text = match.end(), match.lastgroup, match[0]
        kind = "heredoc" if match["heredoc"] else kind
        if kind in ("single", "ansi", "double", "escape", "plain"):
            word = (word or "") + _unquote(kind, text)
        elif kind == "operator" and text in ("{", "}") and word is not None:  # a brace in a word: ${HOME}, a{b,c}
            word += text
        else:
            if kind == "target" and word is not None and word.isdigit():
                word = None
            end_word()
            if kind == "heredoc":
                heredocs.append(match["end"])
            elif kind == "target":
                takes_target = True
            elif kind == "operator" and text not in "<>":
                yield words, targets
                words, targets = [], []
            if text == "\n":
                for end in heredocs:
                    found = re.compile(rf"^\t*{end}$", re.MULTILINE).search(script, at)
                    at = found.end() if found else len(script)
                heredocs = []
    end_word()
    yield words, targets


def _unquote(kind, text):
    if kind == "single":
        return text[1:].removesuffix("'")
    if kind == "ansi":
        return text[2:].removesuffix("'")
    if kind == "double":
        return re.sub(r"\\([\\\"$`])", r"\1", text[1:].removesuffix('"') if len(text) > 1 else "")
    return text[1:] if kind == "escape" else text
