/*
 * The session: one program, its cells, and its open tool calls. Connects the folders; owns the result of each step.
 *
 * The program can't continue by itself when Node.js would exit (`beforeExit`): all of its local work is done, and only
 * calls and timers are pending. Then the runner sends the calls, and blocks until the next step.
 *
 * 1. Each step that begins ends with exactly one result.
 * 2. An error of user code ends its cell, never the session.
 * 3. Tool calls are numbered in the order in which the code makes them, over all cells.
 * 4. After a cell was stopped, its calls, timers and immediates are forgotten. Its promises that still wait wait forever.
 * 5. A cell ends when its code has ended, and the calls that it made have their results.
 */
'use strict'
const { AsyncLocalStorage } = require('node:async_hooks')
const nodeModule = require('node:module')
const { ProgramClock } = require('./determinism/program-clock.js')
const { TimerQueue } = require('./determinism/timer-queue.js')
const { CellUsage } = require('./cells/cell-usage.js')
const { Evaluator } = require('./cells/evaluate.js')
const { formatError } = require('./cells/format-error.js')
const { Interrupts } = require('./cells/interrupts.js')
const { LocalWork } = require('./cells/local-work.js')
const { OutputCapture } = require('./cells/output.js')
const { CellCheck } = require('./check/cell-check.js')
const nodeModules = require('./check/node-modules.js')
const { CellStop, errorClasses, ProcessExit, toolError } = require('./program/errors.js')
const { readGlobals } = require('./program/globals.js')
const imports = require('./program/imports.js')
const randomness = require('./program/randomness.js')
const timeFunctions = require('./program/time-functions.js')
const timers = require('./program/timers.js')
const tools = require('./program/tools.js')
const { Channel } = require('./protocol/channel.js')
const { descriptors } = require('./protocol/descriptors.js')
const { OpenCalls } = require('./protocol/open-calls.js')
const { StepProtocol } = require('./protocol/step-protocol.js')

const realImmediate = setImmediate
const realClearImmediate = clearImmediate
const FRAME_BYTES_PER_CHARACTER = 8
const MICROSECONDS = 1_000_000

class Session {
  /** @param isTyped cells are TypeScript */
  constructor(isTyped) {
    this.channel = new Channel(descriptors)
    this.protocol = new StepProtocol(this, this.channel)
    this.output = new OutputCapture(this.channel)
    this.evaluator = new Evaluator(isTyped)
    this.check = new CellCheck({ readGlobals, lexicalNames: () => this.evaluator.lexicalNames(), ...nodeModules })
    this.clock = new ProgramClock()
    this.timers = new TimerQueue(this.clock)
    this.interrupts = new Interrupts(() => this.#onTerminated())
    this.usage = new CellUsage(() => this.interrupts.totalMs)
    this.localWork = new LocalWork(this.interrupts, (wakeIn) => this.#suspendWithLocalWork(wakeIn))
    this.language = `Node.js ${process.versions.node}`
    this.limits = {}
    this.calls = new OpenCalls() // with { resolve, reject, cell }
    this.cell = undefined // { number, isRestricted, end, timersBefore } while a cell has no result
    this.timerDue = undefined // values of the clocks when the host sends a step without results
    this.immediates = new Set() // of the program
    this.rejections = new Map() // promises without a handler -> reason
    this.author = new AsyncLocalStorage() // the restricted cell to which code belongs
  }

  start() {
    process.on('beforeExit', () => this.#onIdle())
    process.on('unhandledRejection', (reason, promise) => void this.rejections.set(promise, reason))
    process.on('rejectionHandled', (promise) => void this.rejections.delete(promise))
    process.on('uncaughtException', (error) => this.#onUncaught(error))
    this.#nextCell()
  }

  // -- called by the protocol

  /** Applies a hello. The first one installs the tools: a host that attaches later may have others. */
  configure({ limits, started_at: startedAt, seed, session, tools: signatures }, isFirst) {
    this.limits = limits
    const frameCharacters = Math.floor(this.channel.frameLimit / FRAME_BYTES_PER_CHARACTER)
    this.output.setLimit(Math.min(limits.captured_characters, frameCharacters))
    if (!isFirst) return
    this.clock.origin = startedAt
    timeFunctions.install(this.clock)
    randomness.install(`${seed} ${session}`)
    timers.install(this.timers)
    this.#installImmediates()
    process.exit = (code = process.exitCode ?? 0) => this.#exit(code)
    imports.install()
    tools.install(this, signatures, errorClasses)
    this.check.setTools(signatures)
    nodeModule.syncBuiltinESMExports() // named imports of builtin modules are copies
  }

  beginStep(number) {
    this.output.step = number
    this.interrupts.beginStep()
  }

  // -- cells

  /** Blocks until the next cell arrives, and starts it. */
  #nextCell() {
    const frame = this.protocol.nextStep('cell')
    this.#inNextTurn(() => this.#startCell(frame))
  }

  #startCell(frame) {
    const { now, waited, cell: number, restricted: isRestricted = false, checked = false } = frame
    this.clock.beginStep(now, waited)
    this.calls.beginCell()
    this.output.beginCell()
    this.interrupts.reset(this.limits.cell_seconds * 1_000)
    this.usage.begin()
    this.rejections.clear()
    this.localWork.reset()
    this.interrupts.enter()
    const cell = { number, isRestricted, end: undefined, timersBefore: this.timers.number }
    this.cell = cell
    const end = (result) => {
      if (this.cell === cell) cell.end ??= result
    }
    try {
      if (frame.input_data !== undefined) this.#setVariable('input_data', this.#resolve(frame.input_data, 'value'))
      const source = this.#resolve(frame, 'source')
      this.protocol.values.clear()
      const check = (program, text) => this.check.check(program, text, checked)
      const start = () =>
        this.evaluator.start(source, number, check, (failed) => end(failed ? endOf(failed.error) : completed))
      if (isRestricted) this.author.run(cell, start)
      else start()
    } catch (error) {
      end(endOf(error))
    }
    this.#fireTimers()
  }

  #setVariable(name, value) {
    Object.defineProperty(programGlobal, name, { value, writable: true, configurable: true, enumerable: true })
  }

  /** Called when all local work is done. */
  #onIdle() {
    if (!this.interrupts.leave()) {
      // The termination of code is on its way: it must not hit the runner.
      realImmediate(() => this.#absorbTermination())
      return
    }
    if (!this.cell) return this.#inNextTurn(() => {})
    if (this.timers.untilFirst === 0 && !this.#isEnding) return this.#continue(() => this.#fireTimers())
    if (this.cell.end && !this.#hasOpenCalls) return this.#finish(this.cell.end)
    this.#suspend(undefined)
  }

  get #isEnding() {
    return this.cell?.end !== undefined && !this.#hasOpenCalls
  }

  /** Invariant 5. */
  get #hasOpenCalls() {
    return this.calls.hasSomeOf(this.cell)
  }

  /** Each callback has its own turn of the event loop, as in Node.js. */
  #fireTimers() {
    if (!this.cell || this.#isEnding) return
    realImmediate(() => {
      if (this.cell && !this.#isEnding && this.timers.fireDue()) this.#fireTimers()
    })
  }

  /** Sends the new calls, and blocks until the next step. */
  #suspend(localWakeIn) {
    const first = this.timers.untilFirst
    if (this.calls.size === 0 && first === undefined && localWakeIn === undefined) {
      const error = 'the code waits for something that can never happen: a promise that nothing resolves'
      this.#forgetWork()
      return this.#finish({ type: 'failed', kind: 'code_error', error })
    }
    const calls = this.calls.takeUnsent()
    const timer = first === undefined ? undefined : first / MICROSECONDS
    const wakeIn =
      this.calls.unsent.length > 0 ? 0 : localWakeIn === undefined ? timer : Math.min(localWakeIn, timer ?? localWakeIn)
    this.timerDue = first === undefined || wakeIn < timer ? undefined : this.clock.after(first)
    try {
      this.#sendResult({ type: 'suspended', calls, wake_in: wakeIn ?? null })
    } catch (error) {
      this.#forgetWork()
      return this.#finish({
        type: 'failed',
        kind: 'limit_exceeded',
        error: `${error.message}: pass less to one tool call`,
      })
    }
    const frame = this.protocol.nextStep('resume')
    this.#continue(() => this.#resume(frame))
  }

  #suspendWithLocalWork(wakeIn) {
    if (!this.cell || this.#isEnding || (this.calls.size === 0 && this.timers.untilFirst === undefined)) return false
    if (!this.interrupts.leave()) return false
    this.#suspend(wakeIn)
    return true
  }

  #resume({ now, waited, stop, results }) {
    const { timerDue } = this
    this.timerDue = undefined
    this.clock.beginStep(now, waited)
    if (stop !== undefined) {
      this.#forgetWork()
      this.cell.end = { type: 'failed', kind: 'timed_out', error: stop }
      return
    }
    for (const { call, outcome } of results) this.#settleCall(call, outcome)
    this.protocol.values.clear()
    // Only time has passed: the timer is due, by definition.
    if (results.length === 0 && timerDue !== undefined) this.clock.advanceTo(...timerDue)
    this.#fireTimers()
  }

  #settleCall(index, outcome) {
    const call = this.calls.take(index)
    if (!call) return // the code no longer waits for it
    if (outcome.status !== 'ok') return call.reject(toolError(call.tool, outcome))
    try {
      call.resolve(this.#resolve(outcome, 'value'))
    } catch (error) {
      this.cell.end ??= endOf(error)
    }
  }

  /** Returns a value of the program. */
  #resolve({ ref, ...container }, key) {
    return tools.fromJson(ref === undefined ? JSON.stringify(container[key]) : this.protocol.values.take(ref))
  }

  /** Sends the result of the cell, and blocks until the next cell. */
  #finish(result, interruptedAfter) {
    const { isRestricted, timersBefore } = this.cell
    if (isRestricted) this.timers.clear(timersBefore)
    const [rejection, ...others] = [...this.rejections.values()].map(
      (reason) => `Unhandled rejection: ${formatError(reason)}`,
    )
    this.rejections.clear()
    this.cell = undefined
    // As in Node.js, a rejection that nothing handles is an error of the program.
    const isFailure = result.type === 'completed' && rejection !== undefined
    const usage = this.usage.measure()
    const end = { ...(isFailure ? { type: 'failed', kind: 'code_error', error: rejection } : result), usage }
    try {
      this.#sendResult(end, (isFailure ? others : [rejection ?? '', ...others]).join('\n'), interruptedAfter)
    } catch (error) {
      this.#sendResult({ type: 'failed', kind: 'limit_exceeded', error: error.message, usage })
    }
    this.#nextCell()
  }

  #sendResult(message, note, interruptedAfter) {
    const interrupted = interruptedAfter !== undefined && { interrupted_after: interruptedAfter }
    this.protocol.sendResult({ ...message, ...interrupted, ...this.output.take(note) })
    this.clock.markResult()
  }

  // -- interruption

  /** Called when the watcher ends code, as soon as the event loop runs again. */
  #onTerminated() {
    const { interruptedAfter } = this.interrupts.takeTermination()
    if (!this.cell) return this.#inNextTurn(() => {})
    this.#forgetWork()
    if (interruptedAfter === undefined) {
      const rule = `it may run ${this.limits.cell_seconds} seconds, waiting for tools not counted`
      return this.#finish({
        type: 'failed',
        kind: 'timed_out',
        error: `the code was stopped: ${rule}. Do less in one cell.`,
      })
    }
    this.channel.send({ type: 'interrupted' }) // otherwise the host would try again
    this.#finish({ type: 'failed', kind: 'stopped', error: 'Interrupted' }, interruptedAfter)
  }

  /** Waits in code that may be ended. */
  #absorbTermination() {
    realImmediate(() => this.interrupts.isTerminating && this.#onTerminated())
    for (
      const start = process.hrtime.bigint();
      this.interrupts.isTerminating && process.hrtime.bigint() - start < 60_000_000n;
    );
  }

  /** Invariant 4. */
  #forgetWork() {
    this.calls.forget()
    this.timers.clear()
    for (const immediate of this.immediates) realClearImmediate(immediate)
    this.immediates.clear()
    this.localWork.end()
  }

  #onUncaught(error) {
    if (this.cell) this.cell.end ??= endOf(error)
  }

  #exit(code) {
    if (this.cell) {
      this.cell.end ??= endOf(new ProcessExit(code))
      this.#forgetWork()
    }
    throw new ProcessExit(code)
  }

  // -- called by the program

  /**
   * Makes one tool call. It is sent to the host when the program can't continue without its result.
   *
   * @param text the arguments as JSON
   */
  call(tool, text, resolve, reject) {
    const { cell } = this
    const author = this.author.getStore()
    if (!cell || (author && author !== cell)) {
      const reason = 'was called by code that another agent has left behind: its cell has ended'
      return reject(toolError(tool, { status: 'denied', message: `${tool}() ${reason}` }))
    }
    try {
      this.calls.add(tool, text, this.limits.calls_per_cell, { resolve, reject, cell })
    } catch (stop) {
      cell.end ??= endOf(stop)
      return this.#forgetWork() // the call waits for ever: code that catches an error would make the next call
    }
    this.localWork.reset()
  }

  /** Immediates of the program are known, so that those of a stopped cell do not run. */
  #installImmediates() {
    const start = (callback, ...values) => {
      const immediate = realImmediate(() => {
        this.immediates.delete(immediate)
        Reflect.apply(callback, undefined, values)
      })
      this.immediates.add(immediate)
      return immediate
    }
    const clear = (immediate) => {
      this.immediates.delete(immediate)
      realClearImmediate(immediate)
    }
    const { promisify } = require('node:util')
    Object.defineProperty(start, promisify.custom, {
      value: (value) => new Promise((resolve) => start(resolve, value)),
    })
    const functions = { setImmediate: start, clearImmediate: clear }
    Object.assign(programGlobal, functions)
    Object.assign(require('node:timers'), functions)
  }

  // -- the event loop

  /** Runs work in the next turn of the event loop. Without one, Node.js would exit. */
  #inNextTurn(work) {
    realImmediate(work)
  }

  #continue(work) {
    realImmediate(() => {
      this.interrupts.enter()
      work()
    })
  }
}

const completed = { type: 'completed' }

function endOf(error) {
  if (error instanceof ProcessExit) {
    return error.code === 0 ? completed : { type: 'failed', kind: 'code_error', ...error.report }
  }
  if (error instanceof CellStop) return { type: 'failed', kind: error.kind, error: error.message }
  return { type: 'failed', kind: 'code_error', error: formatError(error) }
}

module.exports = { Session }
