def parse_line(line):
    name, _, amount = line.partition(";")
    return name.strip(), float(amount)


def totals(lines):
    result = {}
    for line in lines
        if not line.strip() or line.startswith("#"):
            continue
        name, amount = parse_line(line)
        result[name] = result.get(name, 0) + amount
    return result


def report(lines):
    rows = [f"{name}: {amount:.2f}" for name, amount in sorted(totals(lines).items()]
    return "\n".join(rows)
