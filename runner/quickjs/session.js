/*
 * The session: one program, its cells, and its open tool calls. Connects the engine with the protocol; owns the result
 * of each step. It has the invariants of the session in containers (runner/javascript/session.js).
 *
 * The program can't continue by itself when the engine has no more jobs, and no timer is due: there is no other local
 * work. Then the session sends the calls, and blocks until the next step.
 */
'use strict'
const { BoundedText } = require('../javascript/cells/bounded-text.js')
const { prepare } = require('../javascript/cells/prepare.js')
const { CellCheck } = require('../javascript/check/cell-check.js')
const { ProgramClock } = require('../javascript/determinism/program-clock.js')
const { RandomStream, uuidOf } = require('../javascript/determinism/random-stream.js')
const { TimerQueue } = require('../javascript/determinism/timer-queue.js')
const { CellStop } = require('../javascript/program/errors.js')
const { Channel } = require('../javascript/protocol/channel.js')
const { OpenCalls } = require('../javascript/protocol/open-calls.js')
const { StepProtocol } = require('../javascript/protocol/step-protocol.js')
const { Ended, Engine, OUT_OF_MEMORY, Refused } = require('./engine.js')
const { parseAddress, parseQuery, writeQuery } = require('./host/address.js')
const { callFormatter } = require('./host/locale.js')
const { Interrupts } = require('./interrupts.js')
const { sentenceAbout } = require('./program/missing.js')

const FRAME_BYTES_PER_CHARACTER = 8
const MICROSECONDS = 1_000_000
const STREAM_MS = 250 // between two output messages of a cell
const STREAM_CHARACTERS = 4_000
const REJECTION_MS = 1_000 // for the texts of rejections, after the cell
/** Values arrive in the memory of this process, whose heap is smaller than the memory of the engine can be. */
const MAXIMUM_VALUE_MEMORY = 256 * 1024 * 1024
/** QuickJS keeps `var` from cell to cell. */
const KEYWORD = 'var'
/** No call has this number, so it gets no result. */
const NO_CALL = 0
const completed = { type: 'completed' }

class Session {
  /**
   * @param isTyped cells are TypeScript
   * @param files the engine and the formatter of values
   */
  static async create({ bindings, exit, isTyped, ...files }) {
    const session = new Session(bindings, exit, isTyped)
    const { clock, interrupts } = session
    prepare('0', 0, { keyword: KEYWORD, isTyped }) // the first one takes longer than those after it
    session.engine = await Engine.create({ ...files, clock, interrupts, functions: session.#hostFunctions() })
    session.language = `QuickJS ${session.engine.vm.versions?.quickjs ?? ''}`.trim()
    return session
  }

  constructor(bindings, exit, isTyped) {
    this.bindings = bindings
    this.isTyped = isTyped
    const end = () => exit(0)
    this.channel = new Channel({
      read: (chunk) => Math.max(bindings.read(chunk), 0),
      write: (bytes) => bindings.write(bytes) < 0 && end(),
      end,
    })
    this.protocol = new StepProtocol(this, this.channel)
    this.text = new BoundedText()
    this.unsentText = ''
    this.sentAt = 0
    this.step = 0
    this.clock = new ProgramClock()
    this.clock.read = () => (this.clock.now += 1)
    this.timers = new TimerQueue(this.clock)
    this.interrupts = new Interrupts(bindings)
    this.check = new CellCheck({
      readGlobals: () => JSON.parse(this.engine.call('readGlobals')),
      lexicalNames: () => [],
      isPackage: () => false, // each import fails
      hintFor: sentenceAbout,
    })
    this.calls = new OpenCalls() // with { cell }
    this.limits = {}
    this.cell = undefined // { number, end } while a cell has no result
    this.timerDue = undefined // values of the clocks when the host sends a step without results
    this.immediates = []
    this.random = undefined
  }

  run() {
    for (;;) this.#runCell(this.protocol.nextStep('cell'))
  }

  // -- called by the protocol

  /** Applies a hello. The first one installs the tools: a host that attaches later may have others. */
  configure({ limits, started_at: startedAt, seed, session, tools }, isFirst) {
    this.limits = limits
    const frameCharacters = Math.floor(this.channel.frameLimit / FRAME_BYTES_PER_CHARACTER)
    this.text.capacity = Math.min(limits.captured_characters, frameCharacters)
    this.protocol.values.memoryBytes = Math.min(limits.memory_bytes, MAXIMUM_VALUE_MEMORY)
    if (!isFirst) return
    this.clock.origin = startedAt
    this.random = new RandomStream(`${seed} ${session}`)
    const configure = () =>
      this.engine.call('configure', JSON.stringify({ tools, argumentBytes: limits.argument_bytes, startedAt }))
    this.interrupts.measure(configure)
    this.check.setTools(tools)
  }

  beginStep(number) {
    this.step = number
    this.interrupts.beginStep()
  }

  // -- cells

  #runCell(frame) {
    const { now, waited, cell: number, restricted: isRestricted = false } = frame
    this.clock.beginStep(now, waited)
    this.calls.beginCell()
    this.text.beginCell()
    this.unsentText = ''
    this.sentAt = this.bindings.now()
    this.interrupts.beginCell(this.limits.cell_seconds * 1_000)
    const timersBefore = this.timers.number
    this.cell = { number, end: undefined }
    this.#advance(() => this.#start(frame))
    while (!this.#isEnding) this.#suspend()
    if (isRestricted) this.timers.clear(timersBefore)
    this.#finish()
  }

  #start(frame) {
    const { number } = this.cell
    if (frame.input_data !== undefined) {
      this.engine.call('setInput', this.#textOf(frame.input_data, 'value'))
    }
    // The source is a text, so it is in the frame as it is, and JSON when it came in pieces.
    const source = frame.ref === undefined ? frame.source : JSON.parse(this.protocol.values.take(frame.ref))
    this.protocol.values.clear()
    try {
      this.engine.start(this.#prepare(source, frame.checked === true), `cell-${number}.js`)
    } catch (error) {
      // The work of earlier cells goes on: nothing of this one has run.
      if (error instanceof CellStop) this.cell.end = { type: 'failed', kind: error.kind, error: error.message }
      else throw error
    }
  }

  /**
   * Returns the code of a cell for the engine. Its time counts to that of the cell.
   *
   * @throws CellStop. The text of an error has no frames: they are of this process
   */
  #prepare(source, isChecked) {
    const check = (tree, text) => this.check.check(tree, text, isChecked)
    const onProgress = () => {
      if (this.interrupts.check()) throw new Ended()
    }
    try {
      return prepare(source, this.cell.number, { keyword: KEYWORD, isTyped: this.isTyped, check, onProgress })
    } catch (error) {
      if (error instanceof Ended || error instanceof CellStop) throw error
      throw new CellStop('code_error', error.stack.replace(/^\s+at .*\n?/gm, '').trimEnd())
    }
  }

  /** Returns the JSON of a value. */
  #textOf({ ref, ...container }, key) {
    return ref === undefined ? JSON.stringify(container[key]) : this.protocol.values.take(ref)
  }

  /** Does work, and then all that the program can do by itself. The cell has ended if it must not continue. */
  #advance(work) {
    try {
      this.interrupts.measure(() => {
        work()
        this.#runToIdle()
      })
    } catch (error) {
      this.#stop(error)
    }
  }

  #runToIdle() {
    for (;;) {
      this.engine.runJobs()
      this.#noteEnd()
      if (this.#isEnding) return
      const immediate = this.immediates.shift()
      if (immediate !== undefined) this.#fire(immediate)
      else if (!this.timers.fireDue()) return
    }
  }

  #fire(id) {
    const error = this.engine.call('fire', id)
    if (error !== undefined) this.cell.end ??= failure(error)
  }

  #noteEnd() {
    const end = this.cell.end === undefined ? this.engine.end : undefined
    if (end) this.cell.end = end.error === undefined ? completed : failure(end.error)
  }

  get #isEnding() {
    return this.cell.end !== undefined && !this.calls.hasSomeOf(this.cell)
  }

  /** Ends the cell because of an error of the runner, a limit or an interrupt. */
  #stop(error) {
    this.#forgetWork()
    if (error instanceof Ended) this.cell.end = this.#endByInterrupt()
    else if (error instanceof Refused) this.cell.end = this.#endByEngine(error)
    else if (error instanceof CellStop) this.cell.end ??= { type: 'failed', kind: error.kind, error: error.message }
    else throw error
    this.interrupts.reason ??= 'limit'
    if (!this.engine.discardJobs()) throw new Error('the code could not be stopped')
    this.#forgetWork()
  }

  #endByInterrupt() {
    if (this.interrupts.reason === 'request') {
      this.channel.send({ type: 'interrupted' }) // otherwise the host would try again
      return { type: 'failed', kind: 'stopped', error: 'Interrupted', interrupted_after: this.interrupts.sinceStep }
    }
    const rule = `it may run ${this.limits.cell_seconds} seconds, waiting for tools not counted`
    return { type: 'failed', kind: 'timed_out', error: `the code was stopped: ${rule}. Do less in one cell.` }
  }

  #endByEngine({ message }) {
    const megabytes = Math.floor(this.limits.memory_bytes / 1e6)
    const rule = message === OUT_OF_MEMORY ? `. The code may use ${megabytes} MB: keep less at once.` : ''
    return failure(`InternalError: ${message}${rule}`)
  }

  /** Sends the new calls, blocks until the next step, and continues. */
  #suspend() {
    const first = this.timers.untilFirst
    if (this.calls.size === 0 && first === undefined) {
      this.cell.end = failure('the code waits for something that can never happen: a promise that nothing resolves')
      return
    }
    const calls = this.calls.takeUnsent()
    const timer = first === undefined ? undefined : first / MICROSECONDS
    const wakeIn = this.calls.unsent.length > 0 ? 0 : timer
    this.timerDue = first === undefined || wakeIn < timer ? undefined : this.clock.after(first)
    try {
      this.#sendResult({ type: 'suspended', calls, wake_in: wakeIn ?? null })
    } catch (error) {
      this.#forgetWork()
      this.cell.end = { type: 'failed', kind: 'limit_exceeded', error: `${error.message}: pass less to one tool call` }
      return
    }
    const frame = this.protocol.nextStep('resume')
    this.#advance(() => this.#resume(frame))
  }

  #resume({ now, waited, stop, results }) {
    const { timerDue } = this
    this.timerDue = undefined
    this.clock.beginStep(now, waited)
    if (stop !== undefined) throw new CellStop('timed_out', stop)
    for (const { call, outcome } of results) this.#settle(call, outcome)
    this.protocol.values.clear()
    // Only time has passed: the timer is due, by definition.
    if (results.length === 0 && timerDue !== undefined) this.clock.advanceTo(...timerDue)
  }

  #settle(index, outcome) {
    if (!this.calls.take(index)) return // the code no longer waits for it
    if (outcome.status === 'ok') this.engine.call('resolve', index, this.#textOf(outcome, 'value'))
    else this.engine.call('reject', index, JSON.stringify(outcome))
  }

  /** Sends the result of the cell. */
  #finish() {
    const { end } = this.cell
    const rejections = this.#takeRejections()
    this.cell = undefined
    const [rejection, ...others] = rejections.map((text) => `Unhandled rejection: ${text}`)
    // As in Node.js, a rejection that nothing handles is an error of the program.
    const isFailure = end.type === 'completed' && rejection !== undefined
    const note = isFailure ? others : [rejection ?? '', ...others]
    try {
      this.#sendResult(isFailure ? failure(rejection) : end, note.join('\n'))
    } catch (error) {
      this.#sendResult({ type: 'failed', kind: 'limit_exceeded', error: error.message })
    }
  }

  #takeRejections() {
    this.interrupts.beginCell(REJECTION_MS)
    try {
      return this.interrupts.measure(() => this.engine.takeRejections())
    } catch (error) {
      if (error instanceof Ended || error instanceof Refused) return []
      throw error
    }
  }

  #sendResult(message, note) {
    this.protocol.sendResult({ ...message, ...this.text.take(note) })
    this.unsentText = ''
    this.clock.markResult()
  }

  #forgetWork() {
    this.calls.forget()
    this.timers.clear()
    this.immediates = []
  }

  // -- called by the program

  #hostFunctions() {
    const { bindings } = this
    return {
      print: (text, isError) => this.#print(text, isError === 1),
      call: (tool, text) => this.#call(tool, text),
      startTimer: (ms, isRepeated) => this.#startTimer(ms, isRepeated === 1),
      clearTimer: (id) => this.timers.remove(id),
      startImmediate: (id) => void this.immediates.push(id),
      clearImmediate: (id) => void (this.immediates = this.immediates.filter((each) => each !== id)),
      monotonic: () => this.clock.readMonotonic(),
      random: () => this.random.random(),
      randomBytes: (size) => this.random.read(size),
      randomUUID: () => uuidOf(this.random.read(16)),
      encode: (text) => Buffer.from(text, 'utf8'),
      decode: (bytes, encoding, isFatal, ignoresMark) =>
        bindings.decode(bytes, encoding, isFatal === 1, ignoresMark === 1) ?? 0,
      parseAddress,
      parseQuery,
      writeQuery,
      callFormatter,
    }
  }

  #print(text, isError) {
    this.text.add(text, isError)
    this.unsentText = (this.unsentText + text).slice(-STREAM_CHARACTERS)
    const now = this.bindings.now()
    if (now - this.sentAt < STREAM_MS) return
    this.sentAt = now
    this.channel.send({ type: 'output', step: this.step, text: this.unsentText.toWellFormed() })
    this.unsentText = ''
  }

  /** Returns the number of the call, or the text why it is refused. */
  #call(tool, text) {
    const { cell } = this
    if (!cell) return `${tool}() was called by code whose cell has ended`
    try {
      return this.calls.add(tool, text, this.limits.calls_per_cell, { cell })
    } catch (stop) {
      cell.end ??= { type: 'failed', kind: stop.kind, error: stop.message }
      this.#forgetWork()
      return NO_CALL // it waits for ever: code that catches an error would make the next call
    }
  }

  #startTimer(ms, isRepeated) {
    const timer = this.timers.start(() => this.#fire(timer.id), ms, [], isRepeated)
    return timer.id
  }
}

function failure(error) {
  return { type: 'failed', kind: 'code_error', error }
}

module.exports = { Session }
