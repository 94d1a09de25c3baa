/**
 * Entry of the child process that runs one embedded Python interpreter. The order matters: the process reads all files
 * from disk, then strips Node, then loads Python in a realm without Node, and only then accepts a program.
 *
 *   limits.sh, empty-root.sh   limits and root directory, set by the operating system (Linux)
 *   command-line flags         permission model, no code from strings: src/sandbox/wasm/jail/jail-command.ts
 *   strip-node.mjs             removes Node's modules and globals from this process
 *   realm.mjs                  the empty JavaScript realm for Pyodide
 *   host-bindings.mjs          the only functions that the realm can call outside itself
 *   realm-main.mjs             runs in the realm: defines its globals, loads Pyodide, runs the Python runner
 */
import { loadFiles } from './load-files.mjs'
import { createHostBindings } from './host-bindings.mjs'
import { createRealm } from './realm.mjs'
import { stripNode } from './strip-node.mjs'

const settings = JSON.parse(process.argv[2])
const crashed = 70 // EX_SOFTWARE
const reallyExit = process.reallyExit.bind(process)

const bindings = createHostBindings({ interruptDescriptor: 3, statusDescriptor: 4 })

/**
 * V8 sometimes never exits, because it waits for a thread that compiles WebAssembly. The parent kills it after the
 * announcement.
 */
function exit(code) {
  bindings.exiting(code)
  reallyExit(code)
}

try {
  const files = loadFiles(settings)
  const realm = createRealm()
  stripNode()
  const realmMain = await realm.load('realm-main.mjs', files.realmMain)
  const wrappedBindings = realmMain.wrapHostBindings(bindings)
  realmMain.defineGlobals(wrappedBindings, {
    '/pyodide/pyodide.asm.wasm': files.wasm,
    '/pyodide/python_stdlib.zip': files.standardLibrary,
    ...(files.bootImage && { '/pyodide/boot.image': files.bootImage }),
    ...Object.assign({}, ...files.mounted.map(({ contents }) => contents)),
  })
  const { loadPyodide } = await realm.load('pyodide.mjs', files.loader)
  const { default: createPyodideModule } = await realm.load('pyodide.asm.mjs', files.glue)
  const { lock, runner } = files
  // The parameters are text: an object of Node's realm would give the program access to that realm.
  const parameters = JSON.stringify({
    lock,
    runner,
    quotas: settings.quotas,
    hasBootImage: files.bootImage !== undefined,
    mounted: files.mounted.map(({ root, list }) => ({ root, list })),
    packages: settings.wheels?.root,
  })
  await realmMain[settings.task ?? 'startRunner'](wrappedBindings, loadPyodide, createPyodideModule, parameters)
  exit(0)
} catch (error) {
  // The error may be a hostile object of the program, so it is only printed.
  bindings.log(String(error?.stack ?? error).slice(0, 4_000))
  bindings.log(`the interpreter ended: ${String(error).trim().split('\n').at(-1)}`)
  exit(Number.isInteger(error?.status) ? error.status & 0xff : crashed)
}
