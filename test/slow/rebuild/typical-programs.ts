import { asyncioPrograms } from './asyncio-programs.js'

/** A program: its cells, which call the tool `get(a, b=None)`. */
export type Program = readonly [name: string, cells: readonly string[]]

const libraryPrograms: readonly Program[] = [
  [
    'ids, names and times',
    [
      String.raw`
import uuid, datetime, time, secrets, random, string, hashlib
job = {"id": str(uuid.uuid4()), "at": datetime.datetime.now(datetime.timezone.utc).isoformat(), "day": f"{datetime.date.today():%Y-%m-%d}",
  "stamp": int(time.time() * 1000), "token": secrets.token_hex(8), "pin": "".join(random.choices(string.digits, k=6)), "u5": str(uuid.uuid5(uuid.NAMESPACE_DNS, "x")),
  "name": time.strftime("%Y%m%d-%H%M%S"), "etag": hashlib.sha256(str(datetime.datetime.now()).encode()).hexdigest(), "local": str(datetime.datetime.now().astimezone())}
r = await get(a=job)
job["later"] = str(datetime.datetime.now() + datetime.timedelta(days=1)); random.shuffle(names := list("abcdef")); job["sample"] = random.sample(names, 3)
await get(a=job); print(job)`,
    ],
  ],
  [
    'sets of strings and tuples',
    [
      String.raw`
rows = [{"city": c, "zip": z} for c, z in [("Rome", None), ("Oslo", 1), ("Bern", None), ("Rome", None), ("Kyiv", 3.5)]]
for key in {(r["city"], r["zip"]) for r in rows}: await get(a=list(key))
tags = {"x", "yy", "zzz"} | set("hello") - {"l"} ^ {"q"}
while tags: await get(tags.pop())
for f in frozenset(["b", b"b", 1.5, None, True, ("t",), frozenset({1})]): await get(str(f))`,
    ],
  ],
  [
    'hash and sorted by hash',
    [
      String.raw`
words = "the quick brown fox jumps over the lazy dog".split()
buckets = {}
for w in words: buckets.setdefault(hash(w) % 4, []).append(w)
for k, v in buckets.items(): await get(a=[k, v])
await get(a=[str(hash(value)) for value in ((1, "a", None), 1.5, frozenset("abc"), b"x")])
import datetime, decimal, enum
class E(enum.Enum): A = 1; B = 2; C = 3
for e in {E.A, E.B, E.C}: await get(e.name)
for d in {datetime.date(2024, 1, n) for n in range(1, 9)}: await get(str(d))
for d in {decimal.Decimal(n) / 7 for n in range(5)}: await get(str(d))`,
    ],
  ],
  [
    'sets of dataclasses and functions by name',
    [
      String.raw`
from dataclasses import dataclass
from typing import NamedTuple
@dataclass(frozen=True)
class P: name: str; tag: str | None = None
class N(NamedTuple): a: int; b: str | None
for p in {P("a"), P("b", "c"), P("d")}: await get(p.name)
for n in {N(1, None), N(2, "x"), N(3, None)}: await get(n.a)`,
    ],
  ],
  [
    'collections',
    [
      String.raw`
from collections import Counter, defaultdict, deque, OrderedDict, ChainMap
c = Counter("mississippi")
for k, v in c.most_common(): await get(a=[k, v])
d = defaultdict(set)
for w in "apple avocado banana blueberry cherry".split(): d[w[0]].add(w)
for k, v in d.items():
    for x in v: await get(a=[k, x])
q = deque(range(5), 3); await get(a=list(q)); await get(a=dict(ChainMap({"a": 1}, {"b": 2})))
common = set("abcdef") & set("defghi"); await get(a=list(common)); await get(a=list({**{"b": 1}, "a": 2} | {"c": 3}))
await get(a=list({"a": 1, "b": 2}.keys() & {"b": 1, "a": 3, "z": 2}.keys()))`,
    ],
  ],
  [
    'itertools, functools, generators',
    [
      String.raw`
import itertools, functools, operator
@functools.lru_cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
for k, g in itertools.groupby(sorted(["aa", "b", "cc", "d"], key=len), key=len): await get(a=[k, list(g)])
async def pages():
    n = 0
    while n is not None:
        r = await get(n); yield r["a"]; n = r["a"] + 1 if r["a"] < 4 else None
got = [x async for x in pages()]
await get(a=[fib(30), functools.reduce(operator.mul, got[1:]), list(itertools.accumulate(got)), [list(c) for c in itertools.batched(got, 2)] if hasattr(itertools, "batched") else 0])
async for x in pages():
    if x == 2: break
await get("left")`,
    ],
  ],
  [
    'files in the folder',
    [
      String.raw`
import os, json, csv, pathlib, tempfile, glob, shutil
os.chdir("/tmp")
base = pathlib.Path("out"); base.mkdir()
for n in "qawz": (base / f"{n}.json").write_text(json.dumps(await get(n)))
for f in os.listdir(base): await get(f)
for f in base.glob("*.json"): await get(a=[f.name, json.loads(f.read_text()), f.stat().st_size])
for root, dirs, files in os.walk("."): await get(a=[root, dirs, files])
with tempfile.NamedTemporaryFile("w+", suffix=".csv", delete=False) as t:
    csv.writer(t).writerows([[1, 2], ["a", "b"]]); await get(t.name)
with tempfile.TemporaryDirectory() as d: await get(d); shutil.copy(t.name, d); await get(a=glob.glob(d + "/*"))
os.replace("out/q.json", "out/r.json"); await get(a=[e.name for e in os.scandir("out")]); await get(a=os.environ.get("HOME"))`,
    ],
  ],
  [
    'regular expressions and text',
    [
      String.raw`
import re, textwrap, difflib, unicodedata
text = "Contact ada@x.org or bob@y.org, call +1 555 0100; ada@x.org again"
for m in re.finditer(r"[\w.]+@[\w.]+\w", text): await get(a=[m.group(), m.span()])
for mail in set(re.findall(r"[\w.]+@[\w.]+\w", text)): await get(mail)
await get(a=difflib.get_close_matches("appel", ["ape", "apple", "peach"])); await get(a=textwrap.wrap(text, 20)); print(f"{3.14159:.2f}", unicodedata.name("é"))`,
    ],
  ],
  [
    'exceptions of all kinds',
    [
      String.raw`
import contextlib, traceback
class Mine(Exception): pass
@contextlib.asynccontextmanager
async def step(n):
    await get(a=["enter", n])
    try: yield n
    except Mine as e: await get(a=["mine", str(e)])
    finally: await get(a=["exit", n])
async with step(1): raise Mine("x")
try:
    try: 1 / 0
    except ZeroDivisionError as e: raise Mine("chained") from e
except Mine as e: await get(a="".join(traceback.format_exception(e))[-200:])
try: await get()
except TypeError as e: await get(str(e))
with contextlib.suppress(KeyError): {}["x"]
async with contextlib.AsyncExitStack() as s:
    for n in (2, 3): await s.enter_async_context(step(n))
assert True`,
    ],
  ],
  [
    'printing with flush and logging',
    [
      String.raw`
import sys, logging, warnings, pprint
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger("app")
for n in range(3): print(n, end=" ", flush=True); log.info("n %d", n); await get(n); sys.stderr.write("err\n"); sys.stdout.flush()
warnings.warn("careful"); pprint.pprint({"b": {2, 1}, "a": [1]}); await get(a=logging.Formatter("%(asctime)s").format(logging.makeLogRecord({"msg": "x"})))`,
    ],
  ],
  [
    'state across cells',
    [
      String.raw`
import random
cache = {}; counts = []; seen = set()
def note(x, acc=[]): acc.append(x); return acc
async def fetch(n):
    if n not in cache: cache[n] = await get(n)
    return cache[n]
for n in (1, 2, 1): await fetch(n); note(n)`,
      String.raw`
for n in (2, 3): await fetch(n)
seen |= {random.choice("abcdef") for _ in range(4)}; await get(a=note(9))`,
      String.raw`
for x in seen: await get(x)
del cache[1]; await fetch(1); await get(a=list(cache)); raise ValueError("end")`,
      String.raw`
await get(a=[list(cache), note(0)])`,
    ],
  ],
]

/** Programs in the style of models. In a rebuild they make the same calls and print the same output. */
export const programs: readonly Program[] = [...asyncioPrograms, ...libraryPrograms]

/** More programs, for sandboxes with threads and processes. */
export const programsWithProcesses: readonly Program[] = [
  [
    'one thread at a time',
    [
      String.raw`
import asyncio, time
def work(n): time.sleep(0.02); return n * 2
for n in range(4): await get(a=await asyncio.to_thread(work, n))`,
    ],
  ],
  [
    'threads in parallel, gathered',
    [
      String.raw`
import asyncio, time
def work(n): time.sleep(0.03 * (5 - n)); return n * 2
for r in await asyncio.gather(*(asyncio.to_thread(work, n) for n in range(5))): await get(r)`,
    ],
  ],
  [
    'thread pool map',
    [
      String.raw`
from concurrent.futures import ThreadPoolExecutor
import time, random
with ThreadPoolExecutor(4) as pool: rs = list(pool.map(lambda n: (time.sleep(0.02), n * n)[1], range(8)))
for r in rs: await get(r)
await get(random.random())`,
    ],
  ],
  [
    'subprocess',
    [
      String.raw`
import subprocess, asyncio, sys
r = subprocess.run([sys.executable, "-c", "print(list({'a','b','c','d'}))"], capture_output=True, text=True); await get(r.stdout)
r = subprocess.run("echo hi; ls /; exit 3", shell=True, capture_output=True, text=True); await get(a=[r.stdout, r.returncode])
p = await asyncio.create_subprocess_exec("echo", "yo", stdout=asyncio.subprocess.PIPE); await get((await p.communicate())[0].decode())
p = await asyncio.create_subprocess_shell("sleep 0.1; echo a", stdout=asyncio.subprocess.PIPE)
await asyncio.gather(get("beside"), p.communicate()); await get("end")`,
    ],
  ],
]
