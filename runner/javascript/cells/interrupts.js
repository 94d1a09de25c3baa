/*
 * Ends code of the program from outside: at the time limit of its cell, or when the host interrupts it (SIGINT).
 *
 * A worker thread watches, because the thread of the program may be busy. It ends running code by the inspector, which
 * code can't catch, and which runs no `finally`. Waiting for the host does not count towards the time limit.
 *
 * | state       | meaning                                         | next                                              |
 * |-------------|-------------------------------------------------|---------------------------------------------------|
 * | RUNNER      | the runner works, or waits for the host         | PROGRAM, by `enter`                               |
 * | PROGRAM     | code of the program may run                     | RUNNER, by `leave`; TERMINATING, by the watcher   |
 * | TERMINATING | code of the program is being ended              | RUNNER, by `reset`                                |
 *
 * So the watcher never ends the runner itself, such as in the middle of a frame.
 */
'use strict'
const { Worker } = require('node:worker_threads')

const [RUNNER, PROGRAM, TERMINATING] = [0, 1, 2]
// Places in the shared memory.
const [GENERATION, STATE, LIMIT_MS, REASON, IS_READY, RESET] = [0, 1, 2, 3, 4, 5]
const [BY_LIMIT, BY_SIGNAL] = [1, 2]
const realNow = performance.now.bind(performance)
const { add, compareExchange, load, notify, store, wait } = Atomics

/** The code of the watcher. Two nested scripts: when the only one ended, Node.js would give SIGINT its default again. */
const watcher = `
const vm = require('node:vm')
const { workerData: shared, parentPort } = require('node:worker_threads')
const { Session } = require('node:inspector')
const session = new Session()
session.connectToMainThread()
globalThis.shared = shared
const watch = new vm.Script(\`(() => {
  Atomics.store(shared, ${IS_READY}, 1)
  Atomics.notify(shared, ${IS_READY})
  for (;;) {
    const generation = Atomics.load(shared, ${GENERATION})
    const isRunning = Atomics.load(shared, ${STATE}) === ${PROGRAM}
    const limit = isRunning ? Math.max(1, shared[${LIMIT_MS}]) : Infinity
    const isOver = Atomics.wait(shared, ${GENERATION}, generation, limit) === 'timed-out'
    if (isOver && Atomics.load(shared, ${GENERATION}) === generation) return
  }
})()\`)
globalThis.once = () => {
  let reason = ${BY_LIMIT}
  try {
    watch.runInThisContext({ breakOnSigint: true })
  } catch {
    reason = ${BY_SIGNAL}
  }
  if (Atomics.compareExchange(shared, ${STATE}, ${PROGRAM}, ${TERMINATING}) !== ${PROGRAM}) return
  Atomics.store(shared, ${REASON}, reason)
  while (Atomics.load(shared, ${STATE}) === ${TERMINATING}) {
    session.post('Runtime.terminateExecution', () => {})
    parentPort.postMessage(0)
    Atomics.wait(shared, ${RESET}, 0, 60)
  }
}
const forever = new vm.Script('for (;;) once()')
for (;;) {
  try {
    forever.runInThisContext({ breakOnSigint: true })
  } catch {}
}
`

class Interrupts {
  /** @param onTerminated called when code of the program was ended */
  constructor(onTerminated) {
    this.shared = new Int32Array(new SharedArrayBuffer(64))
    this.usedMs = 0
    this.totalMs = 0 // for which code ran, since the runner began
    this.limitMs = 90_000
    this.enteredAt = 0
    this.stepStartedAt = 0
    // Before the watcher: a listener that is added later takes the signal away from it.
    process.on('SIGINT', ignore)
    this.worker = new Worker(watcher, { eval: true, workerData: this.shared, stdout: false, stderr: false })
    this.worker.on('message', () => this.isTerminating && onTerminated())
    this.worker.unref() // last: a listener keeps the process alive
    wait(this.shared, IS_READY, 0, 10_000)
  }

  get isTerminating() {
    return load(this.shared, STATE) === TERMINATING
  }

  /** Starts to count the time of a cell. */
  reset(limitMs) {
    this.usedMs = 0
    this.limitMs = limitMs
  }

  beginStep() {
    this.stepStartedAt = realNow()
  }

  /** Code of the program runs from now on. */
  enter() {
    this.enteredAt = realNow()
    this.shared[LIMIT_MS] = Math.max(this.limitMs - this.usedMs, 1)
    store(this.shared, STATE, PROGRAM)
    this.#wake()
  }

  /** The runner works from now on. Returns false when code is being ended: then the termination is on its way. */
  leave() {
    if (compareExchange(this.shared, STATE, PROGRAM, RUNNER) === TERMINATING) return false
    this.#addTime()
    this.#wake()
    return true
  }

  /**
   * Called when code of the program has been ended.
   *
   * @returns how a result reports it; with `interruptedAfter`, milliseconds since the step began, for an interrupt
   */
  takeTermination() {
    const isLimit = load(this.shared, REASON) === BY_LIMIT
    this.#addTime()
    store(this.shared, STATE, RUNNER)
    notify(this.shared, RESET)
    this.#wake()
    return isLimit ? {} : { interruptedAfter: Math.max(Math.floor(realNow() - this.stepStartedAt), 0) }
  }

  #addTime() {
    const ms = realNow() - this.enteredAt
    this.usedMs += ms
    this.totalMs += ms
  }

  #wake() {
    add(this.shared, GENERATION, 1)
    notify(this.shared, GENERATION)
  }
}

function ignore() {}

module.exports = { Interrupts }
