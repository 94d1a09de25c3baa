def format_amount(cents):
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d} EUR"


def invoice_total(items):
    return format_amount(sum(cents for _, cents in items))
