import assert from 'node:assert/strict'
import { expectError, fails, prints } from '../expectations.js'
import { echoTool } from '../session-harness.js'
import type { CaseDefinition } from '../conformance-context.js'

/** Programs that a sandbox must run as CPython does. docs/reference/python.md lists the differences. */
export const languageCases: readonly CaseDefinition[] = [
  {
    name: 'stops at a breakpoint like a program without a terminal',
    async run(context) {
      const harness = await context.newHarness()
      // Python 3.14 raises SystemExit, older versions raise BdbQuit.
      expectError((await harness.runCell('breakpoint()\nprint("after")')).finalResult, /BdbQuit|^SystemExit: 1$/)
      assert.equal((await harness.runCell('print("next cell")')).output, 'next cell\n')
    },
  },
  {
    name: 'may replace functions that the runner uses too',
    async run(context) {
      const harness = await context.newHarness()
      const patched = `
import functools, gc, inspect, json, linecache, os, time, traceback, warnings
from decimal import Decimal
from unittest import mock
json.dumps = functools.partial(json.dumps, ensure_ascii=False)
json.loads = functools.partial(json.loads, parse_float=Decimal)
json.encoder.encode_basestring_ascii = json.encoder.c_make_encoder = json.encoder.encode_basestring
def broken(*_, **__): raise AssertionError("the program replaced it")
names = """os.read os.write os.fstat os.pread os.ftruncate os.dup2 os.getpid time.time time.monotonic time.sleep gc.collect
    inspect.iscoroutine inspect.getcoroutinestate traceback.TracebackException traceback.format_exception
    warnings.showwarning warnings.formatwarning json.JSONEncoder.encode json.JSONEncoder.iterencode json.JSONEncoder.default
    json.JSONDecoder.decode json.JSONDecoder.raw_decode builtins.print builtins.open builtins.input
    builtins.eval builtins.exec builtins.compile builtins.__import__""".split()
patches = [mock.patch(name, broken) for name in names]
say = print
for patch in patches: patch.start()
say((await get("é", b=0.5))["b"] + 0.5, len(await get("large")))
`
      const large = harness.storeValue('é'.repeat(10_000))
      const { output } = await harness.runCell(patched, (call) =>
        call.arguments['a'] === 'large' ? { status: 'ok', value: large } : echoTool(call),
      )
      assert.equal(output, '1.0 10000\n')
      const { host, session, step, limits } = harness
      const wanted = { limits, bytes: 1_000_000, seconds: 60 }
      const signal = AbortSignal.timeout(60_000)
      const snapshot = await host.snapshot(session, step, wanted, { attempt: 1, signal })
      assert.deepEqual(snapshot, { type: 'no_snapshot', reason: 'AssertionError: the program replaced it' })
      expectError((await harness.runCell('say("é")\n1 / 0')).finalResult, /line 2, in <module>[^]*ZeroDivisionError/)
      const restore = 'for patch in patches: patch.stop()\nprint("restored")'
      assert.equal((await harness.runCell(restore)).output, 'restored\n')
    },
  },
  {
    name: 'may fork a child that exits while its parent continues',
    requires: 'supportsProcesses',
    async run(context) {
      const source = `
import os, sys, time
child = os.fork()
if child == 0:
    print("child")
    time.sleep(0.4)  # longer than output is held back
    print("child, later")
    async def call():
        await asyncio.sleep(1.2)  # longer than a sleep that is left to the runner
        await get(1)
    try:
        asyncio.run(call())
    except RuntimeError as error:
        print(error)
    1 / 0
else:
    status = os.waitpid(child, 0)[1]
    print("parent:", os.waitstatus_to_exitcode(status), asyncio.run(get(2)))
`
      const { output, calls } = await (await context.newHarness()).runCell(source)
      assert.match(
        output,
        /^child\nchild, later\na forked child process can't call tools\nTraceback[^]*ZeroDivisionError: division by zero\nparent: 1 {'a': 2}\n$/,
      )
      assert.equal(calls.length, 1)
    },
  },
  {
    name: 'may fork a child in a cell with await without waiting for it',
    requires: 'supportsProcesses',
    async run(context) {
      const harness = await context.newHarness()
      // One write, because the child prints at the same time.
      const source = `
import os, sys
await get(1)
if os.fork() == 0:
    print("child")
else:
    sys.stdout.write(f"parent {(await get(2))['a']}\\n")`
      const { output, calls } = await harness.runCell(source)
      assert.match(output, /parent 2\n/)
      assert.equal(calls.length, 2)
      const next = await harness.runCell('os.wait()\nprint("next", await get(3))')
      assert.match(output + next.output, /child/)
      assert.match(next.output, /next {'a': 3}\n$/)
    },
  },
  prints(
    'sees the functions of time and os as builtin functions',
    `
import copy, inspect, os, pickle, time, types
from unittest import mock
class Clocks:
    time, monotonic, sleep, random = time.time, time.monotonic, time.sleep, os.urandom
clocks = Clocks()
clocks.sleep(0)
print(type(clocks.time()).__name__, type(clocks.monotonic()).__name__, len(clocks.random(4)))
for function in (time.time, time.ctime, os.urandom):
    assert pickle.loads(pickle.dumps(function)) is copy.deepcopy(function) is function
    assert inspect.isbuiltin(function) and isinstance(function, types.BuiltinFunctionType)
print(time.time, os.urandom)
mocked = mock.create_autospec(types.MethodType(time.ctime, time.time()))
mocked(4, 5, 6)
try:
    time.sleep(-1)
except ValueError as error:
    print(error)
`,
    'float float 4\n<built-in function time> <built-in function urandom>\nsleep length must be non-negative\n',
  ),
  {
    name: 'shows warnings with their position, once for each line of a cell',
    async run(context) {
      const harness = await context.newHarness()
      const source = `
import io, warnings
for _ in range(3): warnings.warn("in a loop", RuntimeWarning)
file = io.StringIO()
warnings.showwarning("text", UserWarning, "file.py", 7, file=file)
print(repr(file.getvalue()))
`
      const { output } = await harness.runCell(source)
      const line = 'for _ in range(3): warnings.warn("in a loop", RuntimeWarning)'
      assert.equal(output, `<cell 1>:3: RuntimeWarning: in a loop\n  ${line}\n'file.py:7: UserWarning: text\\n'\n`)
      assert.match((await harness.runCell(source)).output, /^<cell 2>:3: RuntimeWarning: in a loop\n/)
    },
  },
  {
    name: 'sets warning filters and captures warnings for later cells',
    async run(context) {
      const harness = await context.newHarness()
      await harness.runCell('import logging, warnings\nwarnings.filterwarnings("ignore", message="unwanted")')
      assert.equal((await harness.runCell('warnings.warn("unwanted")')).output, '')
      await harness.runCell('logging.basicConfig(format="log: %(message)s")\nlogging.captureWarnings(True)')
      assert.match((await harness.runCell('warnings.warn("wanted")')).output, /^log: <cell 4>:1: UserWarning: wanted\n/)
    },
  },
  prints(
    'records the warnings of coroutines that were never awaited',
    `
import warnings
async def forgotten(): pass
with warnings.catch_warnings(record=True) as recorded:
    warnings.simplefilter("always")
    forgotten()
print([str(warning.message) for warning in recorded])
`,
    `["coroutine 'forgotten' was never awaited"]\n`,
  ),
  prints(
    'has asyncio and json without an import, and the sys.argv of a prompt',
    ['json = 5\ndel json', 'print(asyncio.__name__, json.__name__)\nimport sys\nprint(sys.argv, __name__)'],
    "asyncio json\n[''] __main__\n",
    { isFresh: true },
  ),
  {
    name: 'shows the line of every SyntaxError',
    async run(context) {
      const source = 'def f():\n    x = await get(1)'
      const error = expectError((await (await context.harness()).runCell(source)).finalResult, 'SyntaxError')
      assert.match(
        error,
        /line 2\n {4}x = await get\(1\)\n {8}\^+\nSyntaxError: 'await' outside async function\n\[hint\] [^\n]+$/,
      )
    },
  },
  {
    name: 'sees no frame of the runner on its stack',
    async run(context) {
      const source = `
import traceback
def f(): traceback.print_stack()
f()
async def g(): print("".join(traceback.format_stack()), len(traceback.StackSummary.extract(traceback.walk_stack(None))) > 2)
await g()
`
      const { output } = await (await context.harness()).runCell(source)
      assert.match(
        output,
        /, in <module>\n {4}f\(\)\n[^]*, in f\n[^]*, in <module>\n {4}await g\(\)\n[^]*, in g\n[^]* True\n$/,
      )
      assert.doesNotMatch(output, /runner/)
    },
  },
  prints(
    'sees frames of the runner only where it walks the frames itself',
    'import inspect\nprint(any("ptc_runner" in frame.filename for frame in inspect.stack()))',
    'True\n',
  ),
  prints(
    "finds the machine's time on its files",
    `
import os, time
begun, measured = time.time(), time.perf_counter()
while time.perf_counter() - measured < 0.5: pass
with open("/tmp/file", "w") as file: pass
print(os.stat("/tmp/file").st_mtime - begun > 0.4 > time.time() - begun)
os.remove("/tmp/file")
`,
    'True\n',
    { isFresh: true },
  ),
  {
    name: 'can not create a lock of multiprocessing',
    requires: 'providesIsolation',
    async run(context) {
      const { finalResult } = await (
        await context.newHarness()
      ).runCell('import multiprocessing\nmultiprocessing.Lock()')
      // The errors of runc, of gVisor, and of the embedded sandbox, which has no such module.
      expectError(finalResult, /FileNotFoundError|PermissionError|ModuleNotFoundError|Read-only file system/)
    },
  },
  prints(
    'reaches itself as localhost',
    `
import socket
async def answer(reader, writer):
    writer.write(await reader.readline())
    writer.close()
server = await asyncio.start_server(answer, "localhost", 0)
reader, writer = await asyncio.open_connection("localhost", server.sockets[0].getsockname()[1])
writer.write(b"hello\\n")
print(await reader.readline(), socket.gethostbyname("localhost"))
writer.close()
server.close()
`,
    "b'hello\\n' 127.0.0.1\n",
    { isFresh: true, requires: 'supportsProcesses' },
  ),
  prints(
    'may omit an optional argument of a tool',
    'import inspect\nprint(inspect.signature(get), await get(1), await get(1, None))',
    "(*, a, b=Ellipsis) {'a': 1} {'a': 1, 'b': None}\n",
  ),
  fails('has no __file__', 'print(__file__)', "NameError: name '__file__' is not defined", { isFresh: true }),
  prints(
    'has no TLS in asyncio',
    'import ssl\nprint(ssl.create_default_context() is not None, asyncio.sslproto.ssl)',
    'True None\n',
    { isFresh: true, requires: 'supportsProcesses' },
  ),
]
