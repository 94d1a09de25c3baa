import { expect } from 'vitest'

export const completed = { type: 'completed' }
export const failed = (error: string, kind = 'code_error') => ({
  type: 'failed',
  kind,
  error: expect.stringContaining(error) as string,
})

/** Cells of one session, and the output or the end of the last one. */
export const programs: Readonly<Record<string, readonly [cells: readonly string[], expected: string | object]>> = {
  'keeps constants, and declares them again': [['const a = 1', 'const a = 2', 'console.log(a)'], '2\n'],
  'declares a name again in another form': [
    ['const a = 1', 'let a = 2', 'var a = 3', 'class a {}', 'function a() { return 4 }', 'console.log(a())'],
    '4\n',
  ],
  'earlier functions see a later declaration': [
    ['let n = 1; const f = () => n', 'let n = 2', 'console.log(f())'],
    '2\n',
  ],
  'functions are hoisted, and have their name': [['console.log(f(), f.name)\nfunction f() { return 1 }'], '1 f\n'],
  'two functions of a name: the last one counts': [
    ['function f() { return 1 }\nfunction f() { return 2 }\nconsole.log(f())'],
    '2\n',
  ],
  'keeps what was declared before an error': [['const kept = 1\nthrow new Error("x")', 'console.log(kept)'], '1\n'],
  'a name after an error can be declared': [['const bad = JSON.parse("{")', 'const bad = 1; console.log(bad)'], '1\n'],
  'imports builtin modules': [
    ['import fs, { readFileSync as read } from "node:fs"\nconsole.log(fs.readFileSync === read)'],
    'true\n',
  ],
  'imports a module as a namespace, and later': [
    ['import * as path from "node:path"', 'console.log(path.basename("/a/b"))'],
    'b\n',
  ],
  'imports and requires modules by code': [
    ['const os = await import("os"); console.log(os.EOL === require("os").EOL)'],
    'true\n',
  ],
  'a class may be followed by code that would continue an expression': [
    [
      'class A {} class B {}console.log(A.name, B.name)\nclass C {}\n[1].forEach((n) => console.log(n))\nclass D {}\n(() => 0)()',
    ],
    'A B\n1\n',
  ],
  'a default export follows code without a semicolon': [
    ['const a = 1\nexport default a\n;[2].forEach((n) => console.log(n + a))'],
    '3\n',
  ],
  'a default export is followed by code without a semicolon': [
    ['export default class {}\n(() => console.log(1))()'],
    '1\n',
  ],
  'var with a pattern, also again, and with new names': [
    [
      'const { a } = { a: 1 }; var { b } = { b: 2 }, c = 3\nvar { b } = { b: 4 }, d = 5\nvar c, [e] = [6]\nconsole.log(a, b, c, d, e)',
    ],
    '1 4 3 5 6\n',
  ],
  'a name of a nested var can be declared by a later cell': [
    ['for (var i = 0; i < 2; i++) { var inner = i }', 'const i = 5; let inner = 6; console.log(i, inner)'],
    '5 6\n',
  ],
  'a nested var of a name that is a variable of the cell': [
    ['var i = 7; for (var i = 0; i < 2; i++); console.log(i)'],
    '2\n',
  ],
  'import.meta is that of the program': [
    [
      'import { pathToFileURL } from "node:url"\nconsole.log(import.meta.url === pathToFileURL(process.argv[1]).href, typeof import.meta.dirname, typeof import.meta.filename)',
    ],
    'true string string\n',
  ],
  'an error shows its own properties': [
    ['throw Object.assign(new Error("x"), { code: "E_X", data: { n: 1 } })'],
    failed("Error: x\n    at cell-1.js:1:21 {\n  code: 'E_X',\n  data: { n: 1 }\n}"),
  ],
  'exports are declarations': [
    ['export const a = 1\nexport default function f() { return a }', 'console.log(f())'],
    '1\n',
  ],
  'iterates with for await': [
    ['async function* g() { yield 1; yield await get({ id: 2 }) }\nfor await (const each of g()) console.log(each)'],
    '1\n{ id: 2 }\n',
  ],
  'a call returns parsed JSON': [
    ['const { id } = await get({ id: [1, { a: null }] })\nconsole.log(JSON.stringify(id))'],
    '[1,{"a":null}]\n',
  ],
  'waits for calls that code did not await': [['get({ id: 1 }).then(({ id }) => console.log("late", id))'], 'late 1\n'],
  'writes of all kinds keep their order': [
    [
      'import { execSync } from "node:child_process"\nimport { writeSync } from "node:fs"\nconsole.log(1); writeSync(1, "2\\n"); execSync("echo 3; echo 4 >&2", { stdio: "inherit" }); console.error(5)',
    ],
    '1\n2\n3\n4\n5\n',
  ],
  'an error has the lines of the cell': [
    ['\n\nfunction f() { throw new TypeError("x") }\nf()'],
    failed('TypeError: x\n    at f (cell-1.js:3:24)\n    at cell-1.js:4:1'),
  ],
  'an error after an await has the lines of the cell': [
    ['await get({ id: 1 })\nnull.x'],
    failed("TypeError: Cannot read properties of null (reading 'x')\n    at cell-1.js:2:6"),
  ],
  'an error has its cause': [
    ['throw new Error("outer", { cause: new Error("inner") })'],
    failed('[cause]: Error: inner'),
  ],
  'a thrown value that is no error': [['throw { a: 1 }'], failed('Uncaught { a: 1 }')],
  'a syntax error has its line': [
    ['const a = 1\nconst b = )'],
    failed('cell-1.js:2\nconst b = )\n          ^\n\nSyntaxError: Unexpected token'),
  ],
  'a return at the top level has a hint': [['return 1'], failed('A cell is no function: print the result.')],
  'an error in a timer ends the cell': [
    ['setTimeout(() => { throw new Error("late") }, 10); await new Promise((r) => setTimeout(r, 1000))'],
    failed('Error: late'),
  ],
  'an unhandled rejection is an error': [
    ['Promise.reject(new Error("lost")); console.log(1)'],
    failed('Unhandled rejection: Error: lost\n    at cell-1.js:1:16'),
  ],
  'a rejection that is handled late is not shown': [
    ['const p = Promise.reject(new Error("x")); await get({ id: 1 }); await p.catch(() => console.log("caught"))'],
    'caught\n',
  ],
  'a promise that nothing resolves ends the cell': [
    ['await new Promise(() => {})'],
    failed('the code waits for something that can never happen'),
  ],
  'process.exit(0) ends the cell': [['console.log(1); process.exit(0); console.log(2)'], '1\n'],
  'process.exit(3) fails the cell, also when code catches it': [
    ['try { process.exit(3) } catch {}\nawait new Promise(() => {})'],
    failed('process.exit(3)'),
  ],
  'a busy loop ends at the time limit, and the session lives': [
    ['const kept = 1; for (;;);', 'console.log(kept)'],
    '1\n',
  ],
  'an endless loop of promises ends at the time limit': [
    ['for (;;) await null'],
    failed('it may run 2 seconds', 'timed_out'),
  ],
  'arguments are one object': [['await get(1)'], failed('TypeError: get() takes one object with its arguments')],
  'arguments are JSON': [['await get({ id: NaN })'], failed('TypeError: get() takes JSON values only: "id" is NaN')],
  'arguments are a copy': [
    ['const list = [1]; const call = get({ id: list }); list.push(2); console.log((await call).id)'],
    '[ 1 ]\n',
  ],
  'waits for timers without real time': [
    ['const t = Date.now(); await new Promise((r) => setTimeout(r, 3_600_000)); console.log(Date.now() - t)'],
    '3600000\n',
  ],
  'timers of promises and intervals': [
    [
      'import { setTimeout as sleep, setInterval as every } from "node:timers/promises"\nawait sleep(1000); let n = 0; for await (const _ of every(1000)) if (++n === 3) break\nconsole.log(n)',
    ],
    '3\n',
  ],
  'AbortSignal.timeout aborts': [
    [
      'const signal = AbortSignal.timeout(5000); await new Promise((r) => signal.addEventListener("abort", r)); console.log(signal.reason.name)',
    ],
    'TimeoutError\n',
  ],
  'a server in the code answers its own request': [
    [
      'import { createServer } from "node:http"\nconst server = createServer((_, r) => r.end("ok")).listen(0)\nawait get({ id: 1 })\nconsole.log(await (await fetch(`http://127.0.0.1:${server.address().port}`)).text())\nserver.close()',
    ],
    'ok\n',
  ],
  'files, compression and workers are local work': [
    [
      'import { readFile, writeFile } from "node:fs/promises"\nimport { gzipSync, gunzip } from "node:zlib"\nimport { promisify } from "node:util"\nimport { Worker } from "node:worker_threads"\nawait writeFile("/tmp/js-runner-test", "x"); console.log(await readFile("/tmp/js-runner-test", "utf8"), (await promisify(gunzip)(gzipSync("y"))).toString())\nconst w = new Worker("require(\'node:worker_threads\').parentPort.postMessage(7)", { eval: true })\nw.on("message", (m) => console.log(m)); await new Promise((r) => w.on("exit", r))',
    ],
    'x y\n7\n',
  ],
  'code can shadow globals and change prototypes': [
    [
      'const fetch = 1, process = 2, Buffer = 3, JSON = 4, console2 = console; Array.prototype.map = Array.prototype.push = null; Object.assign = null',
      'console2.log(fetch + process + Buffer + JSON)',
    ],
    '10\n',
  ],
}

/** Programs whose steps must be equal in another process. */
export const repeated: Readonly<Record<string, string>> = {
  'time and randomness':
    'console.log(Date.now(), new Date().toISOString(), performance.now(), Math.random(), crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(4)), process.hrtime())',
  'calls in parallel with retries':
    'const retry = async (id) => { for (let n = 0; n < 3; n++) { await new Promise((r) => setTimeout(r, 100 * Math.random())); const r = await get({ id: `${id}-${n}` }); if (Math.random() > 0.5) return r } }\nconsole.log(JSON.stringify(await Promise.all([1, 2, 3, 4].map(retry))))',
  'files in parallel':
    'import { readFile, readdir } from "node:fs/promises"\nconst order = []; await Promise.all(["/etc/passwd", "/etc/hostname", "/proc/version"].map(async (f) => { await readFile(f).catch(() => 0); order.push(f); await get({ id: f }) })); console.log(order.join())',
  'intervals and calls':
    'let n = 0; const t = setInterval(() => { n += 1; get({ id: n }) }, 500); await new Promise((r) => setTimeout(r, 2600)); clearInterval(t); console.log(n)',
  'sets, maps and races':
    'const s = new Set(); await Promise.allSettled([...Array(20).keys()].map(async (i) => { await get({ id: i }); s.add(i % 7) })); console.log([...s].join(), await Promise.any([get({ id: "x" }), get({ id: "y" })]).then(({ id }) => id))',
}
