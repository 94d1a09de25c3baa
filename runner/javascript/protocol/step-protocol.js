/*
 * The order of steps: receives frames, answers most of them, and returns the next step.
 *
 * | frame            | state of the runner                    | action                                                |
 * |------------------|----------------------------------------|-------------------------------------------------------|
 * | hello, step of N | N was executed, its result is kept     | as below, with any fence                              |
 * | any              | fence lower than the highest seen      | refuse: fenced                                        |
 * | hello            | any                                    | configure the session, or refuse: invalid             |
 * | value            | any                                    | add the piece; refuse once when a transfer is damaged |
 * | snapshot         | any                                    | answer that there is none                             |
 * | step of number N | N was executed, same digest            | send the stored result                                |
 * | step of number N | N was executed, another digest         | refuse: fenced. A run that was reset has such a step  |
 * | cell, resume     | another step is expected               | refuse: invalid                                       |
 * | cell, resume     | a referenced value is missing          | refuse: incomplete                                    |
 * | cell, resume     | ready, and it is the expected step     | begin the step                                        |
 *
 * An activity may execute several steps before they are recorded. When its attempt is lost, the next one requests them
 * again, with lower fences: so the results of steps that are not recorded yet are kept (`KeptResults`).
 */
'use strict'
const { IncomingValues } = require('./incoming-values.js')
const { KeptResults } = require('./kept-results.js')

const PROTOCOL = 5
const NO_SNAPSHOT = 'the state of a JavaScript program is not saved: its steps are repeated'

class StepProtocol {
  constructor(session, channel) {
    this.session = session
    this.channel = channel
    this.values = new IncomingValues()
    this.sessionId = undefined // until the first hello
    this.fence = [] // the highest seen: [epoch, step, attempt]
    this.number = 0
    this.digest = undefined
    this.timing = {}
    this.results = new KeptResults()
  }

  /** Blocks until the expected step arrives. */
  nextStep(expectedType) {
    for (;;) {
      const frame = this.channel.receive()
      const order = compare(frame.fence, this.fence)
      if (order < 0) {
        if (frame.type === 'hello' && this.results.has(frame.fence[1])) this.#hello(frame)
        else if (!this.#repeatResult(frame))
          this.#refuse(frame, 'fenced', `${frame.fence.join()} is older than ${this.fence.join()}`)
        continue
      }
      if (order > 0) this.values.clear()
      this.fence = frame.fence
      if (frame.type === 'hello') this.#hello(frame)
      else if (frame.type === 'value') this.#receivePiece(frame)
      else if (frame.type === 'snapshot') this.#refuseSnapshot(frame)
      else if (frame.type === 'close') continue
      else if (this.#acceptStep(frame, expectedType)) return frame
    }
  }

  /** Begins the step and returns true when it is the expected one. Answers every other step. */
  #acceptStep(frame, expectedType) {
    const { type, step } = frame
    if (this.#repeatResult(frame)) return false
    const missing = this.values.missing(frame)
    if (this.results.has(step)) this.#refuse(frame, 'fenced', `step ${step} has another digest here`)
    else if (type === 'restore' && this.number === 0 && missing === undefined) this.#refuseRestore(frame)
    else if (step !== this.number + 1 || type !== expectedType) {
      const expected = `expected ${expectedType} as step ${this.number + 1}`
      this.#refuse(frame, 'invalid', `${expected}, got ${type} as step ${step}`)
    } else if (missing !== undefined)
      this.#refuse(frame, 'incomplete', `step ${step} needs value ${missing}, which did not arrive`)
    else {
      this.#beginStep(frame)
      return true
    }
    return false
  }

  #repeatResult({ step, digest }) {
    const result = this.results.get(step, digest)
    if (result !== undefined) this.channel.send(result)
    return result !== undefined
  }

  #beginStep({ step, digest, recorded = this.number, now, waited }) {
    this.results.forget(recorded)
    this.number = step
    this.digest = digest
    this.timing = { ...(now !== undefined && { now }), ...(waited !== undefined && { waited }) }
    this.session.beginStep(step)
  }

  /**
   * Sends the result of the current step, and stores it for a repeated request.
   *
   * Every client that is attached to the sandbox receives it, so it names its step, and the time at which the step was
   * executed: a repeated request may have another time.
   */
  sendResult(message) {
    const result = { ...message, step: this.number, digest: this.digest, ...this.timing }
    const size = this.channel.send(result)
    this.results.add(this.number, this.digest, result, size)
  }

  #receivePiece({ fence, value, piece, text, last }) {
    if (fence[1] <= this.number) return // of a step that has begun: its sender only waits for the result
    const problem = this.values.add(value, piece, text, last)
    if (problem !== undefined) this.#refuse({ fence }, 'incomplete', problem)
  }

  #hello(frame) {
    const { protocol, session, limits } = frame
    if (protocol !== PROTOCOL || (this.sessionId !== undefined && this.sessionId !== session)) {
      const reason = 'this runner belongs to another session or speaks another protocol'
      return this.#refuse(frame, 'invalid', reason)
    }
    this.channel.frameLimit = Math.min(limits.frame_bytes, 1 << 24)
    this.values.memoryBytes = limits.memory_bytes
    const isFirst = this.sessionId === undefined
    this.sessionId = session
    this.session.configure(frame, isFirst)
    const { language } = this.session
    this.channel.send({ type: 'ready', protocol: PROTOCOL, session, step: this.number, language })
  }

  #refuseSnapshot({ step, fence }) {
    this.channel.send({ type: 'no_snapshot', step, fence, reason: NO_SNAPSHOT })
  }

  #refuseRestore(frame) {
    this.#beginStep(frame)
    this.sendResult({ type: 'restored', problem: NO_SNAPSHOT })
  }

  #refuse({ fence }, kind, reason) {
    // Every client that is attached to the sandbox receives the refusal. The fence identifies the sender.
    this.channel.send({ type: 'refused', step: this.number, fence, kind, reason: reason.slice(0, 1_000) })
  }
}

/** Compares two fences; the empty one is the lowest. */
function compare(one, other) {
  for (let index = 0; index < one.length; index += 1) {
    if (other.length <= index || one[index] > other[index]) return 1
    if (one[index] < other[index]) return -1
  }
  return 0
}

module.exports = { StepProtocol }
