submitted = [call["arguments"]["source"] for call in input_data["calls"] if call["tool"] == "submit_report_module"]
assert submitted, "nothing was submitted"
module = {}
exec(compile(submitted[-1], "report.py", "exec"), module)
lines = ["# head", "bea; 2.5", "al; 1", "", "bea; 1"]
assert module["report"](lines) == "al: 1.00\nbea: 3.50", "report() returns something else"
assert module["totals"]([]) == {}, "totals() returns something else"
original = set(input_data["input"]["report.py"].split())
assert len(original - set(submitted[-1].split())) <= 3, "more than the errors was changed"
