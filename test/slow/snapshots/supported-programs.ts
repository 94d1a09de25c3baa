/** Programs whose state is supported: a restored sandbox must print the same output as the original. */
export const supported: readonly (readonly [name: string, cells: readonly string[], check: string])[] = [
  [
    'data, and one value under two names',
    [
      `a={"x":[1,2.5,None,True,(1,2),{3},frozenset([4]),b"z",1j]}
b=a["x"]`,
    ],
    `print(a, b is a["x"], __name__)`,
  ],
  [
    'modules, and names imported from them',
    [
      `import json, re, math as m
from collections import Counter, defaultdict
c=Counter("aab"); d=defaultdict(list); d["a"].append(1)`,
    ],
    `print(m.pi, c, d, d["q"], json.dumps(1), re.sub("a","b","a"))`,
  ],
  [
    'functions, closures that share a variable, and their source',
    [
      `def f(x, y=2, *a, z: int=3, **k):
    "doc"
    return x+y+z
f.own=[1]
g=lambda: f(1)
def counter():
    n=0
    def up():
        nonlocal n
        n+=1
        return n
    def down():
        nonlocal n
        n-=1
        return n
    return up, down
up, down=counter()
up(); up()
def fact(n): return 1 if n<2 else n*fact(n-1)
def mk():
    def rec(n): return 0 if n==0 else 1+rec(n-1)
    return rec
rec=mk()`,
    ],
    `print(f(1), f.__doc__, f.own, f.__annotations__, g(), up(), down(), down(), fact(5), rec(4))
import inspect; print(inspect.getsource(f))`,
  ],
  [
    'classes with super(), properties and instances that refer to each other',
    [
      `class A:
    n=0
    def __init__(self,x): self.x=x; A.n+=1
    def hi(self): return "A"+str(self.x)
    @property
    def p(self): return self.x*2
    @classmethod
    def make(cls): return cls(9)
    @staticmethod
    def s(): return 5
class B(A):
    def hi(self): return super().hi()+"B"
a=A(1); b=B(2); b.me=b; A.default=B(7)`,
    ],
    `print(a.hi(), b.hi(), b.p, b.me is b, B.make().hi(), A.s(), A.n, type(b) is B, A.default.hi(), B.__mro__, isinstance(b,A))`,
  ],
  [
    'dataclasses, also frozen and with slots',
    [
      `from dataclasses import dataclass, field, asdict, replace
@dataclass(order=True)
class P:
    x:int
    y:list=field(default_factory=list)
@dataclass(frozen=True, slots=True)
class Q:
    a:int=1
    b:str="x"
p=P(1); q=Q(2); d={q: p}`,
    ],
    `print(p, q, P(2)>P(1), asdict(p), replace(p,x=3), d[Q(2)], P(1)==p, hash(q)==hash(Q(2)))
try: q.a=3
except Exception as e: print(type(e))`,
  ],
  [
    'dataclasses with annotations that are text',
    [
      `from __future__ import annotations
from dataclasses import dataclass
@dataclass
class Tree:
    name: str
    below: list[Tree]
class Plain:
    a: int
t=Tree("t", [Tree("u", [])])`,
    ],
    `print(t, Tree.__annotations__, Plain.__annotations__, Tree("t", t.below) == t, "__annotations__" in vars(Plain))`,
  ],
  [
    'enumerations and flags, and their identity',
    [
      `import enum
class C(enum.Enum):
    R=1
    G=enum.auto()
    ALSO=1
    def hi(self): return self.name.lower()
class S(str, enum.Enum):
    A="a"
class I(enum.IntEnum):
    ONE=1
class F(enum.Flag):
    X=1
    Y=2
c=C.R; d={C.G: 1}; f=F.X`,
    ],
    `print(c, c is C.R, C(2), C["G"], list(C), C.ALSO is c, d[C.G], S.A=="a", I.ONE+1, F.X|F.Y, c.hi(), f|F.Y, C.__members__)`,
  ],
  [
    'named tuples',
    [
      `from typing import NamedTuple
from collections import namedtuple
class N(NamedTuple):
    "d"
    a:int
    b:str="x"
    def hi(self): return self.a+1
M=namedtuple("M","p q",defaults=[5])
n=N(1); m=M(2)`,
    ],
    `print(n, m, n.hi(), N(3), M(1)._replace(q=2), n._asdict(), N.__annotations__, N._field_defaults, m==(2,5), N.__doc__, n.a)`,
  ],
  [
    'files, their times, the folder and the environment',
    [
      `import os
os.makedirs("/tmp/a/b"); open("/tmp/a/b/x.txt","w").write("hi"); os.chdir("/tmp/a"); os.environ["K"]="v"; os.chmod("b/x.txt",0o600)`,
    ],
    `print(os.getcwd(), open("b/x.txt").read(), os.environ["K"], oct(os.stat("b/x.txt").st_mode), os.stat("b/x.txt").st_mtime_ns, os.stat("b").st_mtime_ns)`,
  ],
  [
    'tools under other names',
    [
      `g=get
x=await get(a=1)
from functools import partial
p=partial(get, a=3)
try:
    raise ToolError("x")
except ToolError as e: s=str(e)`,
    ],
    `print(x, g.__name__, await g(a=2), await p(), ToolError, s)`,
  ],
  [
    'filters of warnings, and functions in the place of builtin ones',
    [`import warnings, time; warnings.filterwarnings("ignore", message="un"); clocks=[time.time]`],
    `warnings.warn("unwanted"); warnings.warn("shown"); print(clocks[0] is time.time, asyncio.__name__)`,
  ],
  [
    'lines of a traceback',
    [
      `def bad():
    return 1/0`,
    ],
    `bad()`,
  ],
  [
    'unused semaphores and queues',
    [
      `import asyncio
sem=asyncio.Semaphore(2)
q=asyncio.Queue()
async def w(i):
    async with sem: return await get(a=i)
r=await asyncio.gather(*[w(i) for i in range(5)])`,
    ],
    `print(r, await asyncio.gather(*[w(i) for i in range(5)]), q.qsize())`,
  ],
  [
    'abstract classes',
    [
      `from abc import ABC, abstractmethod
class Sh(ABC):
    @abstractmethod
    def area(self): ...
class Sq(Sh):
    def area(self): return 4
s=Sq()`,
    ],
    `print(s.area(), isinstance(s,Sh))
try: Sh()
except TypeError as e: print(e)`,
  ],
  [
    'subclasses of built-in classes, also of exceptions',
    [
      `class D(dict):
    def __missing__(self,k): return k
class L(list): pass
class T(tuple): pass
class S(str): extra=1
class E(Exception):
    def __init__(self,a,b): super().__init__(a); self.b=b
d=D(a=1); d.me=d; l=L([1]); l.x=2; t=T((1,2)); s=S("q"); e=E(1,2)`,
    ],
    `print(d, d["z"], d.me is d, l, l.x, t, type(t), s, type(s), e.b, e.args, repr(e))`,
  ],
  [
    'values of the standard library',
    [
      `import datetime, decimal, fractions, uuid, pathlib, re, collections, itertools
v=[datetime.datetime(2024,1,1,tzinfo=datetime.timezone.utc), decimal.Decimal("1.1"), fractions.Fraction(1,3), uuid.UUID(int=5), pathlib.Path("/x"), re.compile("a(.)"), collections.deque([1],3), collections.OrderedDict(a=1), range(3), slice(1,2), list[int], int|None]
m=re.search("b","abc"); k={"a":1}.keys(); c=itertools.count(3); next(c)`,
    ],
    `print(v, m, k, next(c))`,
  ],
  [
    'the variables as a dict, and objects of every interpreter',
    [
      `g=globals()
import sys, os
p=sys.path; e=os.environ; o=sys.stdout; b=__builtins__`,
    ],
    `x=1; print(g["x"], g is globals(), p is sys.path, e is os.environ, o is sys.stdout, b is __builtins__)`,
  ],
  [
    'empty caches',
    [
      `import functools
@functools.lru_cache(maxsize=5)
def f(n): return n
@functools.wraps(f)
def g(): return 1
class A:
    @functools.cached_property
    def p(self): return 4
a=A()`,
    ],
    `print(f(1), f.cache_info(), g(), a.p, f.cache_parameters())`,
  ],
  [
    'context managers, the decimal context and loggers',
    [
      `import contextlib, decimal, logging
@contextlib.contextmanager
def cm(): yield 5
decimal.getcontext().prec=5
log=logging.getLogger("x")`,
    ],
    `with cm() as v: print(v, decimal.Decimal(1)/3, log.name, log is logging.getLogger("x"))`,
  ],
  [
    'slots',
    [
      `from typing import Generic
class Box:
    __slots__=("a","__b")
    def __init__(s): s.a=1; s.__b=2
    def b(s): return s.__b
x=Box()`,
    ],
    `print(x.a, x.b())`,
  ],
  [
    'instances that share their attributes',
    [
      `class Borg:
    sh={}
    def __init__(self): self.__dict__=self.sh
a=Borg(); b=Borg(); a.x=1; v=vars(a)`,
    ],
    `b.y=2; print(a.y, v, Borg.sh, a.__dict__ is b.__dict__)`,
  ],
  [
    'two classes of one name',
    [
      `class R:
    def __init__(s): s.v=1
old=R()`,
      `class R:
    def __init__(s): s.v=2
new=R()`,
    ],
    `print(type(old) is R, type(new) is R, old.v, new.v, type(old)().v)`,
  ],
  [
    'modules with lazy lookups',
    [
      `import mimetypes, tempfile, csv, statistics, textwrap, string, hashlib, base64, zoneinfo, calendar, sqlite3, html, urllib.parse, xml.etree.ElementTree as ET, difflib, heapq, bisect, io
mimetypes.guess_type("a.txt"); tempfile.gettempdir(); s=io.StringIO(); s.write("hi"); import datetime; datetime.datetime.strptime("2024","%Y"); r=ET.fromstring("<a><b/></a>"); urllib.parse.urlparse("http://x/y")`,
    ],
    `print(s.getvalue(), tempfile.gettempdir(), r.tag)`,
  ],
]
