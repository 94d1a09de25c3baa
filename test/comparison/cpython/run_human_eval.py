# Runs the solutions of HumanEval with their tests and prints the outcome of each, as run_tests.py does. `PROBLEMS` is replaced.
import base64, json, os, zlib


def _main():
    outcomes, problems = {}, []
    for line in zlib.decompress(base64.b64decode("PROBLEMS"), 31).decode().splitlines():
        problem = json.loads(line)
        program = "\n".join((problem["prompt"] + problem["canonical_solution"], problem["test"], f"check({problem['entry_point']})"))
        try:
            exec(compile(program, problem["task_id"], "exec"), {"__name__": "program"})
            outcomes[problem["task_id"]] = "pass"
        except BaseException as error:
            outcomes[problem["task_id"]] = type(error).__name__
            problems.append(f"{problem['task_id']}\n{error!r}")
    text = json.dumps({"outcomes": outcomes, "problems": "\n".join(problems)})
    line = b"\nRESULT:" + base64.b64encode(zlib.compress(text.encode(), 9)) + b":END\n"
    while line:
        line = line[os.write(1, line) :]


_main()
