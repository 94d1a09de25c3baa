"""Keys and passwords in texts, and files whose names say that they have some.

Masking is for accidents: it knows the forms of usual keys. Code that wants to show a key can write it in another form.
"""

import re
from fnmatch import fnmatchcase

MASK = "[masked]"

_SENSITIVE = (
    ".env", ".env.*", "*.env", ".netrc", "_netrc", ".pgpass", ".pypirc", ".npmrc", ".git-credentials", ".htpasswd",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore",
    "*.kdbx", "*.ppk", "credentials", "credentials.json", "shadow", "shadow-",
)  # fmt: skip
_HARMLESS = ("*.pub", ".env.example", ".env.sample", ".env.template", ".env.dist")


def is_sensitive(*names):
    """Whether one of the names of a file says that it has keys or passwords."""
    return any(_is_sensitive(name.lower()) for name in names)


def _is_sensitive(name):
    matches = (fnmatchcase(name, pattern) for pattern in _SENSITIVE)
    return any(matches) and not any(fnmatchcase(name, pattern) for pattern in _HARMLESS)


# Each repetition is bounded, so that the time is linear.
_KEYS = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\Z)"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\bgh[pousr]_[A-Za-z0-9]{30,255}"
    r"|\bgithub_pat_\w{22,255}"
    r"|\bglpat-[\w-]{20,255}"
    r"|\bsk-[A-Za-z0-9_-]{20,255}"
    r"|\b[sr]k_(?:live|test)_\w{16,255}"
    r"|\bxox[abeprs]-[\w-]{10,255}"
    r"|\bAIza[\w-]{35}"
    r"|\bnpm_[A-Za-z0-9]{36}"
    r"|\bhf_[A-Za-z0-9]{30,255}"
    r"|\bSG\.[\w-]{16,64}\.[\w-]{16,64}"
    r"|\beyJ[\w-]{10,2000}\.[\w-]{10,4000}\.[\w-]{5,2000}",
    re.DOTALL,
)
_IN_URL = re.compile(r"(\b[A-Za-z][\w+.-]{0,20}://[^\s:/@]{0,100}:)([^\s/@]{1,200})(?=@)")
_IN_HEADER = re.compile(r"(\b(?:Bearer|Basic) {1,3})([\w.~+/=-]{16,4000})")
_NAMES = r"(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)"
_ASSIGNED = re.compile(
    rf"({_NAMES}[\w.-]{{0,20}}[\"']?[ \t]{{0,4}}[:=][ \t]{{0,4}})"
    r"(\"[^\"\n]{4,500}\"|'[^'\n]{4,500}'|[^\s\"'(){}\[\]<>,;]{4,500})",
    re.IGNORECASE,
)
_IN_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9_]*=")
MAXIMUM_NAME_CHARACTERS = 60
_REFERENCE = re.compile(r"[$%<\[]|\w+\.\w|(?:none|null|true|false|undefined|string|required|optional)\b", re.IGNORECASE)


def mask_secrets(text):
    """Returns the text with keys and passwords replaced."""
    text = _KEYS.sub(MASK, text)
    text = _IN_URL.sub(rf"\1{MASK}", text)
    text = _IN_HEADER.sub(rf"\1{MASK}", text)
    return _ASSIGNED.sub(_mask_assigned, text)


def _mask_assigned(match):
    before, value = match[1], match[2]
    quote = value[0] if value[0] in "\"'" else ""
    bare = value.strip("\"'")
    if MASK in value or _REFERENCE.match(bare):
        return match[0]
    # Without quotes, source code names a variable; a file of settings has the value.
    start = match.start()
    name = re.search(r"\S*\Z", match.string[max(0, start - MAXIMUM_NAME_CHARACTERS) : start])[0] + before
    is_setting = _IN_ENVIRONMENT.fullmatch(name) is not None
    looks_random = re.search(r"\d", bare) and re.search(r"[A-Za-z]", bare)
    if not quote and not is_setting and not looks_random:
        return match[0]
    return f"{before}{quote}{MASK}{quote}"


def mask_values(text):
    """Returns a file of settings or keys without any value: what follows the first `=` or `:` of a line, or the line."""
    return "\n".join(_mask_line(line) for line in text.split("\n"))


def _mask_line(line):
    name, separator, value = re.match(r"([^=:]*)([=:]?)(.*)", line, re.DOTALL).groups()
    if line.strip() == "" or line.lstrip().startswith(("#", ";", "-----")):
        return line
    return f"{name}{separator}{MASK}" if separator and value.strip() else (line if separator else MASK)
