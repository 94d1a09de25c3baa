def fmt(cents):
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d} EUR"


def cart_line(name, cents):
    return f"{name}: {fmt(cents)}"
