/*
 * The JavaScript runner: runs inside a sandbox, executes cells, and stops when only tool calls and timers are pending.
 *
 * Modules of Node.js only, and one parser (vendor/acorn.js). The launcher has put the protocol on descriptors 3 and 4.
 *
 * 1. The runner has no secret and no authority. User code can do everything that this process can, so the host checks
 *    every frame again.
 * 2. A step has one result; a repeated request gets the same result. A host with an older fence is refused.
 * 3. User code can't end the session, only its cell, except by ending the process. Its output is never read as a frame.
 * 4. A cell is bounded in time, in printed characters, in tool calls, and in the size of arguments.
 * 5. Code may declare `process`, or change `Array.prototype`: that changes the globals and the prototypes of the program
 *    only. The runner has its own, in a context of its own.
 *
 *   session.js       the session: its program, its open tool calls, the result of each step
 *   protocol/        frames on private descriptors, the order of steps, values that arrive in pieces
 *   check/           finds mistakes in a cell before it runs
 *   cells/           evaluates cells, captures their output, ends them at their limits
 *   determinism/     the time of the program, which a rebuild must reproduce
 *   program/         what the program calls: tools, errors, timers, time, random numbers. In the context of the program
 */
'use strict'
const { readFileSync } = require('node:fs')
const { isBuiltin } = require('node:module')
const { dirname, join } = require('node:path')
const vm = require('node:vm')

const program = join(__dirname, 'program')
const context = vm.createContext(Object.create(null))
/** What the context of the runner has of Node.js. */
const globals = {
  AbortController,
  performance,
  process,
  programGlobal: globalThis,
  setImmediate,
  clearImmediate,
}
const modules = new Map()

/** Loads a file of the runner into its context. Files in `program/` stay in the context of the program. */
function load(file) {
  if (dirname(file) === program) return require(file)
  const loaded = modules.get(file)
  if (loaded) return loaded.exports
  const module = { exports: {} }
  modules.set(file, module)
  const names = ['module', 'exports', 'require', '__dirname', ...Object.keys(globals)]
  const execute = vm.compileFunction(readFileSync(file, 'utf8'), names, { filename: file, parsingContext: context })
  const folder = dirname(file)
  const requireFrom = (name) => (isBuiltin(name) ? require(name) : load(join(folder, name)))
  execute(module, module.exports, requireFrom, folder, ...Object.values(globals))
  return module.exports
}

const { Session } = load(join(__dirname, 'session.js'))

// Programs do not see the argument.
const [language] = process.argv.splice(2)

new Session(language === 'typescript').start()
