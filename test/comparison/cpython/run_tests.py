# Runs one module of CPython's own tests and prints the outcome of each, by name. The same text is a script for plain
# Python and a cell for the runner. `MODULE` is replaced by the name of the module.
import base64, json, os, tempfile, unittest, zlib


def _main():
    outcomes = {}

    class Result(unittest.TestResult):
        def _record(self, test, outcome):
            name = test.id()
            if "_ErrorHolder" in type(test).__name__ or outcomes.get(name) not in ("error", "fail"):
                outcomes[name] = outcome

        def addSuccess(self, test):
            self._record(test, "pass")

        def addFailure(self, test, problem):
            self._record(test, "fail")
            show(test, problem)

        def addError(self, test, problem):
            self._record(test, "error")
            show(test, problem)

        def addSkip(self, test, reason):
            self._record(test, "skip")

        def addExpectedFailure(self, test, problem):
            self._record(test, "expected failure")

        def addUnexpectedSuccess(self, test):
            self._record(test, "unexpected success")

        def addSubTest(self, test, part, problem):
            if problem is not None:
                self._record(test, "fail" if issubclass(problem[0], test.failureException) else "error")
                show(test, problem)

    # unittest ends the module at a KeyboardInterrupt; here only the test ends.
    run = unittest.TestCase.run

    def run_and_catch_interrupt(test, result=None):
        try:
            return run(test, result)
        except KeyboardInterrupt as error:
            result.addError(test, (type(error), error, error.__traceback__))

    unittest.TestCase.run = run_and_catch_interrupt

    problems = []

    def show(test, problem):
        import traceback

        problems.append(f"{test.id()}\n{''.join(traceback.format_exception(*problem))[-1500:]}")

    result_fd = os.dup(1)  # tests close and replace their streams
    os.chdir(tempfile.mkdtemp())
    try:
        from test import support

        support.use_resources = []
        support.verbose = False
        suite = unittest.defaultTestLoader.loadTestsFromName("test.MODULE")
        suite.run(Result())
    except BaseException as error:
        outcomes["(module)"] = type(error).__name__
        problems.append(f"(module)\n{error!r}")
    text = json.dumps({"outcomes": outcomes, "problems": "\n".join(problems)[-30000:]})
    line = b"\nRESULT:" + base64.b64encode(zlib.compress(text.encode(), 9)) + b":END\n"
    while line:
        line = line[os.write(result_fd, line) :]


_main()
