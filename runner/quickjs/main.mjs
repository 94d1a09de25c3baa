/**
 * Entry of the child process that runs one embedded JavaScript engine: QuickJS in WebAssembly. The order matters: the
 * process reads all files from disk, then strips Node, and only then accepts a program.
 *
 * The jail is that of Python (runner/wasm): limits, root directory, permission model, no code from strings. The steps,
 * the clock, the timers and the limits are those of the containers (runner/javascript).
 *
 *   session.js      the session: its cells, its open calls, the result of each step. In this process, out of reach
 *   engine.js       the engine, and the functions that the program's side can call outside of it
 *   interrupts.js   ends code of the program at its time limit, or when the host asks for it
 *   host/           what those functions do: addresses, formats of languages
 *   program/        what the program sees: console, timers, tools, and what else the language itself lacks. In the engine
 *
 * Before the engine gets a cell, this process parses and checks it, and removes its types (runner/javascript/cells and
 * check).
 *
 * 1. Only numbers, texts and bytes pass between this process and the engine. No object of Node reaches it.
 * 2. The engine can use the memory of its session, and no more: the maximum is in the WebAssembly module.
 * 3. Code of the program can break what it sees (program/), for itself only. The session does not depend on it.
 */
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { createHostBindings } from '../wasm/host-bindings.mjs'
import { capMemory } from '../wasm/memory-cap.mjs'
import { stripNode } from '../wasm/strip-node.mjs'

const settings = JSON.parse(process.argv[2])
const crashed = 70 // EX_SOFTWARE
const reallyExit = process.reallyExit.bind(process)
const bindings = createHostBindings({ interruptDescriptor: 3, statusDescriptor: 4 })

/** The parent kills this process after the announcement, if it does not exit by itself. */
function exit(code) {
  bindings.exiting(code)
  reallyExit(code)
}

try {
  const require = createRequire(import.meta.url)
  const { Session } = require('./session.js')
  const { quickjs, inspect, memoryBytes, isTyped } = settings
  const wasm = capMemory(fs.readFileSync(path.join(quickjs, 'quickjs.wasm')), memoryBytes)
  const { QuickJS } = await import(pathToFileURL(path.join(quickjs, 'dist', 'index.js')).href)
  const own = { bindings, exit, isTyped }
  const session = await Session.create({ QuickJS, wasm, inspect: fs.readFileSync(inspect, 'utf8'), ...own })
  stripNode()
  session.run()
} catch (error) {
  bindings.log(String(error?.stack ?? error).slice(0, 4_000))
  bindings.log(`the interpreter ended: ${String(error).trim().split('\n').at(-1)}`)
  exit(crashed)
}
