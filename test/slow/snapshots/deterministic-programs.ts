import type { supported } from './supported-programs.js'

/** Order, time and random numbers: a restored program must find them unchanged, or it makes other calls. */
export const deterministic: typeof supported = [
  [
    'sets that a restore does not reorder, in their iteration order, also after later changes',
    [
      `import pickle, sys
def kept(each):
    again=pickle.loads(pickle.dumps(each))
    return list(again) == list(each) and sys.getsizeof(again) == sys.getsizeof(each)
made=[{f"{a*a}{b}" for b in "abcd"[:a % 5]} for a in range(60)]
made+=[set(range(3, n)) for n in range(60)]+[{3, -1, 2.5, None, ("a", 1)}]
few=[each for each in made if kept(each)]; del made
class Mine(set): pass
class Frozen(frozenset): pass
mine, own=Mine([1,2,3]), Frozen([4,5])
frozen=frozenset(range(9))
def names():
    return [name for name in {"tea","milk"}|{7,15}] + [word in {15,7,"salt"} for word in ("salt", 8)] + [n for n in {1,2,3}]
nested={frozenset([4]), frozenset([5,6])}; nested_in={"d": [nested]}`,
    ],
    `print(len(few), [list(each) for each in [*few, mine, own, frozen]], names(), type(mine), type(own), nested_in["d"][0] is nested)
print([list(each) for each in nested])
for each in [*few, mine]:
    for n in range(40): each.add(str(n))
    print(each.pop(), list(each), list(each|frozen), all(one in each for one in list(each)))`,
  ],
  [
    'files, in the order of their folder listing',
    [
      `import os, pathlib
for path in ("m", "z/k", "z/b", "z/x", "a/q/r", "c"): pathlib.Path("/tmp/list", path).mkdir(parents=True)
for n, name in enumerate("zbkaxm10"): pathlib.Path("/tmp/list/z" if n % 2 else "/tmp/list", name + ".txt").write_text(name)
os.rename("/tmp/list/z.txt", "/tmp/list/y.txt"); os.remove("/tmp/list/k.txt")`,
    ],
    `print([(path, folders, files, os.listdir(path)) for path, folders, files in os.walk("/tmp/list")])`,
  ],
  [
    'names and numbers that libraries draw later',
    [
      `import asyncio, logging, random, tempfile, uuid
made=[tempfile.mkdtemp(), uuid.uuid1(), asyncio.ensure_future(get(a=1)).get_name()]
await asyncio.sleep(0)
await get(a=2)`,
    ],
    `print(tempfile.mkdtemp(), tempfile.NamedTemporaryFile().name, uuid.uuid1(), uuid.uuid4(), random.random(), uuid.getnode(), made)
print(asyncio.ensure_future(get(a=1)).get_name(), logging.makeLogRecord({}).relativeCreated)`,
  ],
  [
    'moments of the monotonic clock',
    [
      `import time
start, really=time.monotonic(), time.perf_counter()
time.sleep(2)`,
    ],
    `passed=time.monotonic()-start; print(passed >= 2, passed - (time.perf_counter()-really) < 1)`,
  ],
  [
    'later random numbers',
    [
      `import random
random.random()`,
    ],
    `print(random.random(), random.choice(range(1000)), random.gauss(0,1))`,
  ],
  [
    'the clock, and random bytes of the operating system',
    [
      `import asyncio, datetime, os, secrets, time, uuid
from os import urandom as draw
from time import time as now
ids = [uuid.uuid4(), secrets.token_hex(4)]
await asyncio.sleep(0.2)
await asyncio.gather(get(a=1), get(a=2))`,
    ],
    `print(uuid.uuid4(), os.urandom(4), draw(3), now(), datetime.datetime.now(), now is time.time)
print(asyncio.get_event_loop().time(), hash(asyncio.ensure_future(get(a=3))))`,
  ],
]
