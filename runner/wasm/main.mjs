/**
 * Entry of the child process that runs one embedded Python interpreter. The order is the point: everything is read from
 * disk first, then Node is stripped, then Python gets a realm that has no Node in it, and only then a program is asked for.
 *
 *   limits.sh, root.sh   what the operating system takes away (Linux)
 *   flags                what Node takes away (permission model, no code from strings): src/sandbox/wasm/jail-command.ts
 *   strip-node.mjs       what this process takes away from itself
 *   realm.mjs            the empty JavaScript realm that Pyodide lives in
 *   doors.mjs            the few functions that lead out of it
 *   inside.mjs           what runs in the realm: furnish it, load Pyodide, run the Python runner
 */
import { loadFiles } from './files.mjs'
import { makeDoors } from './doors.mjs'
import { makeRealm } from './realm.mjs'
import { stripNode } from './strip-node.mjs'

const settings = JSON.parse(process.argv[2])
const crashed = 70 // EX_SOFTWARE
const reallyExit = process.reallyExit.bind(process)

const doors = makeDoors({ interruptDescriptor: 3, statusDescriptor: 4 })

/** V8 sometimes waits for ever for a thread that compiles WebAssembly; so the parent is told first, and kills. */
function exit(code) {
  doors.over(code)
  reallyExit(code)
}

try {
  const files = loadFiles(settings)
  const realm = makeRealm()
  stripNode()
  const inside = await realm.load('inside.mjs', files.inside)
  const closedDoors = inside.closeDoors(doors)
  inside.furnish(closedDoors, {
    '/pyodide/pyodide.asm.wasm': files.wasm,
    '/pyodide/python_stdlib.zip': files.standardLibrary,
    ...(files.bootImage && { '/pyodide/boot.image': files.bootImage }),
  })
  const { loadPyodide } = await realm.load('pyodide.mjs', files.loader)
  const { default: createPyodideModule } = await realm.load('pyodide.asm.mjs', files.glue)
  const { lock, runner } = files
  // As text: an object of this side would be one more handle on it.
  const parameters = JSON.stringify({
    lock,
    runner,
    quotas: settings.quotas,
    hasBootImage: files.bootImage !== undefined,
  })
  const begin = settings.makesBootImage ? inside.makeBootImage : inside.start
  await begin(closedDoors, loadPyodide, createPyodideModule, parameters)
  exit(0)
} catch (error) {
  // Hostile text by now: whatever the program made of its error object is only ever printed.
  doors.log(String(error?.stack ?? error).slice(0, 4_000))
  doors.log(`the interpreter ended: ${String(error).trim().split('\n').at(-1)}`)
  exit(Number.isInteger(error?.status) ? error.status & 0xff : crashed)
}
