def to_text(cents):
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d} EUR"


def refund_note(cents):
    return f"refund of {to_text(-cents)}"
