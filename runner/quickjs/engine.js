/*
 * The engine of one session: QuickJS, with the program's side (program/) in it. The program can call only the functions
 * of the session: they take and return numbers, texts and bytes.
 *
 * Handles of values are disposed one by one. A scope of the package would also dispose those of rejections, which are made
 * while it is open, and kept.
 */
'use strict'
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { CellStop } = require('../javascript/program/errors.js')
const { IMPORT, META, NAME } = require('../javascript/cells/names.js')

/** The source of the program's side has this name in stacks. */
const RUNNER = 'runner'
const ASYNC = 1 << 7 // evaluates a script with `await` at its top level
/** The engine reports a deep recursion as RangeError within this space. */
const STACK_BYTES = 256 * 1024
const MONOTONIC = 1 // a clock of WASI
const MAXIMUM_REJECTIONS = 100
const MAXIMUM_DISCARDS = 1_000

/** What the program's side returns (program/program.js). */
const functionNames = ['configure', 'fire', 'formatError', 'readGlobals', 'reject', 'resolve', 'setInput']
const ownFiles = [
  'program',
  'missing',
  'console',
  'stacks',
  'timers',
  'text',
  'address',
  'locale',
  'events',
  'clone',
  'random',
]
const sharedFiles = ['program/errors', 'program/tools', 'program/globals', 'cells/error-text']

/** The code was ended from outside: it has no value and no error. */
class Ended extends Error {}

/** The engine has ended the code, which can't catch that: it needs more memory than its session has, for example. */
class Refused extends Error {}

const OUT_OF_MEMORY = 'out of memory'

class Engine {
  /** @param functions what the program's side can call, by name */
  static async create({ QuickJS, wasm, inspect, clock, interrupts, functions }) {
    const engine = new Engine(interrupts)
    const vm = await QuickJS.create({
      wasm,
      maxStackSize: STACK_BYTES,
      timezoneOffset: 0,
      interruptHandler: () => interrupts.check(),
      onUnhandledRejection: (promise, reason, isHandled) => engine.#onRejection(promise, reason, isHandled),
      wasi: (memory) => wasiOf(memory, clock),
    })
    engine.#start(vm, inspect, functions)
    return engine
  }

  constructor(interrupts) {
    this.interrupts = interrupts
    this.rejections = new Map() // promises without a handler, by their identity -> { promise, reason }
  }

  #start(vm, inspect, functions) {
    this.vm = vm
    const program = vm.evalCode(sourceOf(inspect), RUNNER)
    const host = vm.newObject()
    for (const [name, call] of Object.entries(functions)) vm.setProp(host, name, this.#hostFunction(name, call))
    const names = vm.newString(JSON.stringify({ IMPORT, META, NAME }))
    const made = vm.callFunction(program, vm.undefined, host, names)
    this.functions = new Map(functionNames.map((name) => [name, made.getProp(name)]))
  }

  #hostFunction(name, call) {
    const { vm } = this
    return vm.newFunction(name, (...handles) => {
      this.returned?.dispose() // the engine has copied it
      this.returned = undefined
      return (this.returned = this.#toHandle(call(...handles.map(valueOf))))
    })
  }

  #toHandle(value) {
    const { vm } = this
    if (typeof value === 'string') return vm.newString(value)
    if (typeof value === 'number') return vm.newNumber(value)
    return value instanceof Uint8Array ? vm.newUint8Array(value) : vm.undefined // never disposed: it is shared
  }

  /**
   * Calls a function of the program's side, which throws nothing.
   *
   * @returns its text, or undefined
   */
  call(name, ...values) {
    return this.#guarded(() => {
      return this.#callWith(
        name,
        values.map((each) => this.#toHandle(each)),
      )
    })
  }

  /** Disposes the arguments. */
  #callWith(name, handles) {
    try {
      const result = this.vm.callFunction(this.functions.get(name), this.vm.undefined, ...handles)
      return result.consume(() => (result.isString ? result.toString() : undefined))
    } finally {
      for (const each of handles) each.dispose()
    }
  }

  /**
   * Starts a cell.
   *
   * @throws CellStop for what the parser has accepted, and the engine does not
   */
  start(code, name) {
    this.cell?.dispose()
    this.cell = undefined
    this.cell = this.#guarded(() => this.vm.evalCode(code, name, ASYNC))
  }

  /** Runs the jobs of promises until none is left. */
  runJobs() {
    this.#guarded(() => this.vm.executePendingJobs())
  }

  /** Undefined while the cell runs; then { error: text } if it has failed. */
  get end() {
    const state = this.cell?.promiseState
    if (state === 1) return {}
    if (state !== 2) return undefined
    const { vm } = this
    this.#forget(this.cell.identity)
    const reason = new this.cell.constructor(vm, vm.exports.qjs_promise_result(this.cell.ptr))
    return { error: reason.consume(() => this.#format(reason)) }
  }

  /** Returns the texts of the rejections that nothing has handled, and forgets them. */
  takeRejections() {
    const texts = [...this.rejections.values()].map(({ reason }) => this.#format(reason))
    for (const identity of this.rejections.keys()) this.#forget(identity)
    return texts
  }

  /**
   * Ends the jobs that ended code has left behind. Each of them ends at its next check for interrupts.
   *
   * @returns whether none is left
   */
  discardJobs() {
    for (let count = 0; count < MAXIMUM_DISCARDS && this.vm.exports.qjs_is_job_pending(); count += 1) {
      try {
        this.vm.executePendingJobs()
      } catch (error) {
        disposeOf(error)
      }
    }
    return !this.vm.exports.qjs_is_job_pending()
  }

  #format(reason) {
    return this.#guarded(() => this.#callWith('formatError', [reason.dup()]))
  }

  #guarded(work) {
    try {
      return work()
    } catch (error) {
      const { name, message } = error
      if (!('handle' in error)) {
        if (/malloc failed/.test(message)) throw new Refused(OUT_OF_MEMORY)
        throw error
      }
      disposeOf(error)
      if (this.interrupts.reason !== undefined) throw new Ended()
      if (name === 'InternalError') throw new Refused(message)
      // Without memory for an error, there is none.
      if (message === 'null') throw new Refused(OUT_OF_MEMORY)
      if (name === 'SyntaxError') throw new CellStop('code_error', `SyntaxError: ${message}`)
      throw new Error(`the engine failed: ${name}: ${message}`, { cause: error })
    }
  }

  #onRejection(promise, reason, isHandled) {
    const { identity } = promise
    if (isHandled) this.#forget(identity)
    else if (this.rejections.size < MAXIMUM_REJECTIONS)
      this.rejections.set(identity, { promise: promise.dup(), reason: reason.dup() })
  }

  #forget(identity) {
    const { promise, reason } = this.rejections.get(identity) ?? {}
    promise?.dispose()
    reason?.dispose()
    this.rejections.delete(identity)
  }
}

function disposeOf(error) {
  error.handle?.dispose()
}

/** Returns a number, a text or bytes. Never executes code of the program. */
function valueOf(handle) {
  if (handle.isString) return handle.toString()
  if (handle.isNumber) return handle.toNumber()
  return handle.isObject ? handle.toUint8Array() : undefined
}

/** What the engine gets from the system: the clock of the program, and nothing else. */
function wasiOf(memory, clock) {
  return {
    clock_time_get(id, _precision, address) {
      const origin = id === MONOTONIC ? 0n : BigInt(Math.floor(clock.origin)) * 1_000_000n
      new DataView(memory.buffer).setBigUint64(address, origin + BigInt(clock.read()) * 1_000n, true)
      return 0
    },
    random_get(address, length) {
      new Uint8Array(memory.buffer, address, length).fill(0)
      return 0
    },
    fd_write: () => 8, // EBADF
  }
}

/** The files of the program's side as one function, which returns what the session calls. */
function sourceOf(inspect) {
  const files = [
    ...ownFiles.map((name) => [name, join(__dirname, 'program', `${name}.js`)]),
    ...sharedFiles.map((name) => [name, join(__dirname, '..', 'javascript', `${name}.js`)]),
  ].map(([name, file]) => [name, readFileSync(file, 'utf8')])
  const modules = [...files, ['inspect', inspect]].map(([name, source]) => {
    return `${JSON.stringify(name.split('/').at(-1))}: function (module, exports, require, host) {${source}\n},`
  })
  return `(function (host, names) {
const files = {__proto__: null, ${modules.join('\n')}}
const loaded = {__proto__: null}
function require(path) {
  const name = path.slice(path.lastIndexOf('/') + 1).replace('.js', '')
  if (loaded[name]) return loaded[name].exports
  const module = loaded[name] = { exports: {} }
  files[name].call(globalThis, module, module.exports, require, host)
  return module.exports
}
return require('program').start(JSON.parse(names))
})`
}

module.exports = { Ended, Engine, OUT_OF_MEMORY, Refused }
