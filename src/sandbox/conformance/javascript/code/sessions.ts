import type { Column } from '../../behaviors/index.js'
import { takeSnapshot } from '../../behaviors/steps.js'
import { tidiedAfterLimit } from '../../behaviors/limits.js'
import assert from 'node:assert/strict'

const endless = 'const kept = "kept"\nconsole.log("begun")\nfor (;;) console.log(".")'

const limits: Column['limits'] = {
  'a cell ends after too many calls, even if its code catches the error':
    'for (;;) {\n  try {\n    await get({ a: 1 })\n  } catch {}\n}',
  'a busy loop ends at the time limit, and variables stay': ['const kept = "kept"\nfor (;;);', 'console.log(kept)'],
  'an endless loop that lets other work run ends at the time limit': [
    'const kept = "kept"\nfor (;;) await null',
    'console.log(kept)',
  ],
  'output is sent while code runs': endless,
  'an interrupt ends running code, and variables stay': [endless, 'console.log(kept)'],
  'code that is ended can tidy up': {
    difference: 'No `catch` sees the end, and no `finally` block runs.',
    async check(context) {
      const cells = ['let tidied = false\ntry {\n  for (;;);\n} finally {\n  tidied = true\n}', 'console.log(tidied)']
      assert.equal(await tidiedAfterLimit(context, cells), 'false\n')
    },
  },
  'a cell that is stopped while it waits loses its work, and variables stay': [
    'let before = 1\nconst more = async () => {\n  await get({ a: "slow" })\n  await get({ a: "never" })\n}\nsetInterval(() => get({ a: "never" }), 1000)\nawait Promise.all([more(), get({ a: "other" })])\nbefore = 2',
    'console.log(before, (await get({ a: 3 })).a)',
  ],
}

const repeatedSteps: Column['repeated steps'] = {
  'a repeated step returns its first result, and runs once': [
    'globalThis.count = (globalThis.count ?? 0) + 1\nconsole.log(count)',
    'console.log(count)',
  ],
  'a step that is repeated later returns its first result, and the time of its execution': 'console.log(Date.now())',
  'steps without a recorded result are answered again, in order, and the program continues':
    'for (let n = 0; n < 3; n++) console.log(await get({ a: n }))',
  'a step with other content than the one that ran is refused': ['await get({ a: 1 })\nawait get({ a: 2 })', ';'],
  'a stale worker runs nothing, and gets the result of a step that ran': [
    'console.log("mine")',
    'console.log("theirs")',
  ],
}

const clocks = `
const look = () => [
  Date.now(), Date(), new Date().toISOString(), new Date().toString(), new Date().toLocaleString(), performance.now(),
  performance.timeOrigin]`

const randomness = `
console.log(Math.random())
console.log(crypto.randomUUID())
console.log(crypto.getRandomValues(new Uint8Array(8)).join())`

const rebuiltPrograms: Column['rebuilt programs'] = {
  'a rebuilt program reads the same clocks, which follow the steps': [
    `${clocks}\nconsole.log(JSON.stringify(look()))`,
    'await get({ a: look() })\nconsole.log(JSON.stringify(look()))',
  ],
  'a rebuilt program gets the same random values of every source': [randomness, randomness],
  'another session gets other random values': 'console.log(crypto.randomUUID())',
  'a rebuilt program makes its calls in the same order, also those of parallel work with timers': `
await Promise.all(Array.from({ length: 100 }, (_, a) => get({ a })))
await Promise.allSettled(Array.from({ length: 100 }, (_, n) => get({ a: n + 100 })))
const later = async (a, ms) => {
  await new Promise((resolve) => setTimeout(resolve, ms))
  await get({ a })
}
const slow = later("slow", 50)
for (let n = 0; n < 1e6; n++);
await Promise.all([slow, later("quick", 40)])`,
  'a rebuilt program catches the same errors of calls, in the same order': `
const attempt = async (a) => {
  try {
    console.log(await get({ a }))
  } catch (error) {
    console.log(a + ": " + error.message)
  }
}
await Promise.all([attempt("good"), attempt("bad")])`,
  'a snapshot restores variables in a new sandbox, without repeated steps': {
    difference: 'There are no snapshots. A rebuild repeats the steps.',
    async check(context) {
      const harness = await context.newHarness()
      await harness.runCell('const kept = 1')
      assert.equal((await takeSnapshot(harness)).type, 'no_snapshot')
    },
  },
}

const subAgents: Column['sub-agents'] = {
  'a cell of another agent ends its timers and its calls, and leaves those of the session': [
    'const mine = new Promise((resolve) => setTimeout(() => resolve(get({ a: "own" })), 1_000))',
    `
setTimeout(() => get({ a: "timer" }), 100)
setInterval(() => get({ a: "interval" }), 100)
console.log((await get({ a: "its own" })).a)`,
    'await new Promise((resolve) => setTimeout(resolve, 3_000))\nconsole.log((await mine).a)',
  ],
}

const token = 'const token = crypto.randomUUID()\nconsole.log(token)'
const beginsCell = `${token}\nconst r = await get({ a: 1 })\nconsole.log(r, token)`

const sandboxes: Column['sandboxes'] = {
  'a sandbox that is opened again is the same one': [token, 'console.log(token)'],
  'another epoch of a session has a new sandbox': ['const mine = 1', 'console.log(typeof mine !== "undefined")'],
  'code that ends its process loses its step': { requires: 'supportsProcesses', cells: 'process.abort()' },
  'a removed sandbox is gone': ';',
  'the next worker continues in the middle of a cell': beginsCell,
  'a checkpoint keeps the state for the next worker': beginsCell,
  'local work goes on while a call is open': `
const call = get({ a: 1 })
await import("node:util").then(({ promisify }) => promisify(require("node:child_process").exec)("sleep 0.2"))
console.log("local work")
console.log(await call)`,
  'child processes print between the lines of code':
    'console.log(1)\nrequire("node:child_process").execSync("echo child", { stdio: "inherit" })\nconsole.log(2)',
}

/** Makes code say that it was refused. */
const guarded = (body: string): string =>
  `try {\n  ${body}\n} catch (error) {\n  console.log("refused:", error.name)\n}`

const isolation: Column['isolation'] = {
  'the environment of the worker is not there': guarded('console.log(JSON.stringify(process.env))'),
  'files of the host are not there': guarded('console.log(require("node:fs").readFileSync(PATH, "utf8"))'),
  'the network of the host is not there': guarded(
    'await new Promise((resolve, reject) => require("node:net").connect(PORT, "127.0.0.1", resolve).on("error", reject))\n  console.log("connected")',
  ),
  'each sandbox has a /tmp of its own': {
    requires: 'supportsProcesses',
    cells: [
      'require("node:fs").writeFileSync("/tmp/mine", "x")',
      'console.log(require("node:fs").existsSync("/tmp/mine"))',
    ],
  },
  'the size of /tmp is limited': {
    requires: 'supportsProcesses',
    cells: `
const fs = require("node:fs")
let written = 0
try {
  for (let i = 0; i < 64; i++) {
    fs.writeFileSync("/tmp/" + i, "x".repeat(4_000_000))
    written += 4_000_000
  }
} catch {}
for (const name of fs.readdirSync("/tmp")) fs.rmSync("/tmp/" + name)
console.log(written)`,
  },
  'a cell that takes four times the memory limit does not get it, and other sandboxes go on': [
    'const x = new Uint8Array(BYTES).fill(1)\nconsole.log("had it")',
    'console.log("fine")',
  ],
}

const target = '/skills/greet/empty.txt'

const changes: readonly string[] = [
  `fs.writeFileSync("${target}", "x")`,
  `fs.appendFileSync("${target}", "x")`,
  `fs.openSync("${target}", "r+")`,
  `fs.truncateSync("${target}", 0)`,
  `fs.rmSync("${target}")`,
  `fs.chmodSync("${target}", 0o777); fs.writeFileSync("${target}", "x")`,
  'fs.chmodSync("/skills/greet", 0o777); fs.rmSync("/skills/greet/empty.txt")',
  `fs.renameSync("${target}", "/tmp/moved")`,
  'fs.renameSync("/skills/greet", "/tmp/greet")',
  'fs.renameSync("/skills", "/tmp/skills")',
  'fs.symlinkSync("/tmp", "/skills/link")',
  'fs.mkdirSync("/skills/mine")',
  'fs.writeFileSync("/skills/new.txt", "x")',
  'fs.rmdirSync("/skills/data/deep/er")',
  `fs.utimesSync("${target}", 1, 1)`,
]

const files: Column['files'] = {
  'files have their bytes and modes': `
const fs = require("node:fs")
const mode = (path) => (fs.statSync(path).mode & 0o777).toString(8)
process.stdout.write([mode("/skills/greet/scripts/greet.sh"), mode("${target}"), fs.readFileSync("/skills/greet/Ünïcode name.txt", "utf8")].join(" "))
console.log(fs.statSync("${target}").size)
const data = fs.readFileSync("/skills/data/deep/er/table.bin")
console.log(data.length, data.every((byte, i) => byte === (i * 7) % 256))
console.log(fs.readFileSync("/skills/data/" + "long-".repeat(15) + "/" + "name-".repeat(15) + "/x.txt", "utf8"))`,
  'files can not be changed, and no file can be added': changes.map(
    (change) =>
      `const fs = require("node:fs")\ntry {\n  ${change}\n  console.log("changed")\n} catch {\n  console.log("refused")\n}`,
  ),
  'a rebuilt sandbox has the same files, and another session has none': `console.log(require("node:fs").existsSync("${target}"))`,
}

/** What happens to sessions of JavaScript. */
export const javascriptSessions = {
  limits,
  'repeated steps': repeatedSteps,
  'rebuilt programs': rebuiltPrograms,
  'sub-agents': subAgents,
  sandboxes,
  isolation,
  files,
}
