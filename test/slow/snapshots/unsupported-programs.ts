/** Programs whose state is unsupported, and the reason that is reported. */
export const unsupported: readonly (readonly [name: string, cell: string, reason: string])[] = [
  ['a generator', `g=(i for i in range(3))`, 'g: a generator'],
  ['a set that a restore would reorder', `s={7,15}`, 'a set whose order would change'],
  [
    'a frozen set that a restore would reorder',
    `class S(frozenset): pass\ns=[S([7,15])]`,
    'a set whose order would change',
  ],
  [
    'a set with a larger table than a restored one',
    `s=set(range(100))\nfor n in range(1, 100): s.remove(n)`,
    'a set whose',
  ],
  [
    'a function that iterates over a set that a restore would reorder',
    `def f():
    def g(): return [n for n in {15,7,"x"}]
    return g`,
    'a set in g whose order would change',
  ],
  ['an open file', `f=open("/tmp/x","w")`, 'open files'],
  [
    'a task',
    `import asyncio
t=asyncio.create_task(asyncio.sleep(0))
await t`,
    't: a Task',
  ],
  [
    'a running task',
    `import asyncio
t=asyncio.ensure_future(asyncio.sleep(50))`,
    'tasks that have not ended',
  ],
  [
    'a lock',
    `import threading
l=threading.Lock()`,
    'l: ',
  ],
  [
    'a changed builtin',
    `import builtins
builtins.print2=print`,
    'changed builtins',
  ],
  [
    'a changed module',
    `import textwrap
textwrap.fill=lambda x: 1`,
    'referenced outside the variables',
  ],
  [
    'a cache with entries',
    `import functools
@functools.cache
def f(n): return n
f(1)`,
    'the cache of f',
  ],
  [
    'an exception that was raised',
    `try: 1/0
except Exception as x: e=x`,
    'traceback',
  ],
  [
    'a link between files',
    `import os
os.symlink("/tmp","/tmp/l")`,
    'not an ordinary file',
  ],
  [
    'a function of the interpreter that no module exports',
    `import atexit
class A: pass
atexit.register(lambda: A)`,
    'referenced outside the variables',
  ],
  [
    'a context variable',
    `import contextvars
v=contextvars.ContextVar("v")
`,
    'v: ',
  ],
  [
    'a weak reference',
    `import weakref
class A: pass
a=A(); w=weakref.ref(a)`,
    'w: a ReferenceType',
  ],
  [
    'a metaclass',
    `class M(type): pass
class A(metaclass=M): pass`,
    'metaclass',
  ],
  [
    'a module of its own',
    `import sys,types
m=types.ModuleType("mine")
sys.modules["mine"]=m`,
    'the module mine',
  ],
  [
    'a module from a file of its own',
    `import sys
open("/tmp/mine.py","w").write("a=1")
sys.path.append("/tmp")
import mine`,
    'the module mine',
  ],
  [
    'a value that is nested too deeply',
    `a=[]
for i in range(100000): a=[a]`,
    'nested too deeply',
  ],
  [
    'a standard stream of its own',
    `import sys, io
sys.stdout=io.StringIO()`,
    'standard stream',
  ],
  [
    'an instance that only a module references',
    `import json
class A: pass
json.x=A()
del A`,
    'referenced outside the variables',
  ],
  [
    'a subclass of an unsupported class',
    `import collections
class Dq(collections.deque): pass
d=Dq()`,
    'based on collections.deque',
  ],
  [
    'a class registered with an abstract one',
    `import collections.abc
class A: pass
collections.abc.Sequence.register(A)`,
    'registered with Sequence',
  ],
  [
    'code that runs when it is copied, and calls a tool',
    `import types, asyncio
n=types.SimpleNamespace()
n.__reduce_ex__=lambda p: asyncio.run(get(a=1))`,
    'no tool can be called',
  ],
  [
    'a name whose value is its own name',
    `from typing import NewType
U=NewType("U",int)`,
    'U: a NewType',
  ],
  [
    'an enumeration with rules of its own',
    'import enum\nclass F(enum.Flag, boundary=enum.KEEP):\n    A = 1',
    'F: the enumeration F',
  ],
  ['another event loop', 'import asyncio\nasyncio.set_event_loop(asyncio.new_event_loop())', 'another event loop'],
  ['an attribute of the event loop', 'import asyncio\nasyncio.get_event_loop().mine = {}', 'of the event loop'],
]

/** More unsupported programs for sandboxes with processes and threads. */
export const unsupportedProcesses: typeof unsupported = [
  [
    'a thread',
    `import threading,time
t=threading.Thread(target=time.sleep,args=(50,),daemon=True); t.start()`,
    'threads',
  ],
  [
    'a child process',
    `import subprocess
p=subprocess.Popen(["sleep","50"])`,
    'child processes',
  ],
  [
    'a socket',
    `import socket
s=socket.socketpair()`,
    'open files or sockets',
  ],
  [
    'a pipe with a name',
    `import os
os.mkfifo("/tmp/l")`,
    'not an ordinary file',
  ],
  [
    'a handler of a signal',
    `import signal
signal.signal(signal.SIGUSR1, lambda *a: 0)`,
    'a handler of a signal',
  ],
  [
    'a value that takes too long to copy',
    `import types\nn = types.SimpleNamespace()\ndef loop(p):\n    while True: pass\nn.__reduce_ex__ = loop`,
    'too long',
  ],
]

/** Changes that are detected only when a snapshot is restored. The snapshot is then rejected. */
export const unrestorable: typeof unsupported = [
  ['a changed constant', 'import math\nmath.pi = 3', 'the module math'],
  ['a configured logger', 'import logging\nlogging.basicConfig(level=10)', 'the module '],
  ['a setting of the csv module', 'import csv\ncsv.field_size_limit(5)', 'setting csv'],
  ['an attribute of a tool', 'get.n = 1', 'the module builtins'],
  ['an attribute of a library function', 'import textwrap\ntextwrap.fill.n = 1', 'the module textwrap'],
  [
    'an object that is a key of its own dict',
    `class K:
    k = 0
    def __hash__(self): return hash(self.k)
x = K()
x.k = 5
x.d = {x: 1}`,
    'a K that is a key of a container',
  ],
]
