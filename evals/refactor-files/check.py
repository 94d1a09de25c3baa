import os
import sys

files = dict(input_data["input"])
for call in input_data["calls"]:
    if call["tool"] == "write_source_file" and call["status"] == "ok":
        files[call["arguments"]["path"]] = call["arguments"]["content"]
assert "shop/money.py" in files, "there is no shop/money.py"
for path, content in files.items():
    os.makedirs(os.path.join("/tmp/work", os.path.dirname(path)), exist_ok=True)
    with open(os.path.join("/tmp/work", path), "w") as file:
        file.write(content)
definitions = [path for path, content in files.items() if "// 100" in content]
assert definitions == ["shop/money.py"], f"the formatting is in {definitions}"
sys.path.insert(0, "/tmp/work")
from shop import cart, invoice, money, refund

assert money.format_cents(-5) == "-0.05 EUR", "format_cents(-5) is wrong"
assert cart.cart_line("tea", 250) == "tea: 2.50 EUR", "cart_line has changed"
assert invoice.invoice_total([("a", 1999), ("b", 1)]) == "20.00 EUR", "invoice_total has changed"
assert refund.refund_note(120) == "refund of -1.20 EUR", "refund_note has changed"
