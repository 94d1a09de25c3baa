/*
 * Timers of the program. They are due by the waiting time of the program clock, so a wait is a durable timer of the
 * workflow, and a rebuild repeats their order. `setImmediate` stays real: it waits for nothing.
 *
 * Modules of Node that were loaded before, such as `http`, keep real timers.
 */
'use strict'
const timers = require('node:timers')
const promises = require('node:timers/promises')
const { promisify } = require('node:util')

const MAXIMUM_MS = 2 ** 31 - 1

class Timeout {
  constructor(queue, callback, ms, values, isRepeated) {
    const duration = Number(ms)
    this.ms = duration >= 1 && duration <= MAXIMUM_MS ? Math.trunc(duration) : 1
    this.callback = callback
    this.values = values
    this.isRepeated = isRepeated
    this.isReferenced = true
    Object.defineProperty(this, 'queue', { value: queue })
    this.id = queue.nextNumber()
    queue.add(this)
  }

  ref() {
    this.isReferenced = true
    return this
  }

  unref() {
    this.isReferenced = false
    return this
  }

  hasRef() {
    return this.isReferenced
  }

  refresh() {
    this.queue.remove(this)
    this.queue.add(this)
    return this
  }

  close() {
    this.queue.remove(this)
    return this
  }

  [Symbol.toPrimitive]() {
    return this.id
  }

  [Symbol.dispose ?? Symbol.for('nodejs.dispose')]() {
    this.close()
  }
}

class TimerQueue {
  constructor(clock) {
    this.clock = clock
    this.number = 0
    this.timers = [] // in the order in which they are due
  }

  nextNumber() {
    this.number += 1
    return this.number
  }

  add(timer) {
    timer.due = this.clock.waited + timer.ms * 1_000
    let index = this.timers.length
    while (index > 0 && this.timers[index - 1].due > timer.due) index -= 1
    this.timers.splice(index, 0, timer)
  }

  /** @param timer a Timeout, or its id */
  remove(timer) {
    const isId = typeof timer === 'number' || typeof timer === 'string'
    const index = this.timers.findIndex((each) => (isId ? each.id === Number(timer) : each === timer))
    if (index >= 0) this.timers.splice(index, 1)
  }

  /** Microseconds until the first timer is due; undefined without one. */
  get untilFirst() {
    const [first] = this.timers
    return first === undefined ? undefined : Math.max(first.due - this.clock.waited, 0)
  }

  /** Calls the callback of the first timer that is due. Returns false when none is. */
  fireDue() {
    const [first] = this.timers
    if (first === undefined || first.due > this.clock.waited) return false
    this.timers.shift()
    if (first.isRepeated) this.add(first)
    Reflect.apply(first.callback, first, first.values)
    return true
  }

  /** Removes all timers, or those after a number. */
  clear(after = 0) {
    this.timers = this.timers.filter(({ id }) => id <= after)
  }
}

function install(queue) {
  const start = (isRepeated) => (callback, ms, ...values) => {
    if (typeof callback !== 'function')
      throw Object.assign(new TypeError('The "callback" argument must be of type function.'), {
        code: 'ERR_INVALID_ARG_TYPE',
      })
    return new Timeout(queue, callback, ms, values, isRepeated)
  }
  const clear = (timer) => queue.remove(timer)
  const setTimeout = start(false)
  const setInterval = start(true)
  const sleep = (ms, value, { signal } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortError(signal))
      const timer = setTimeout(resolve, ms, value)
      signal?.addEventListener('abort', () => (clear(timer), reject(abortError(signal))), { once: true })
    })
  async function* every(ms, value, { signal } = {}) {
    for (;;) {
      await sleep(ms, undefined, { signal })
      yield value
    }
  }
  Object.defineProperty(setTimeout, promisify.custom, { value: sleep })
  const functions = { setTimeout, setInterval, clearTimeout: clear, clearInterval: clear }
  Object.assign(globalThis, functions)
  Object.assign(timers, functions)
  Object.assign(promises, { setTimeout: sleep, setInterval: every })
  promises.scheduler.wait = (ms, options) => sleep(ms, undefined, options)
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController()
    const abort = () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
    setTimeout(abort, ms).unref()
    return controller.signal
  }
  // When memory is collected can't be repeated, so nothing is collected that the program may ask for.
  globalThis.WeakRef = class WeakRef {
    #target
    constructor(target) {
      this.#target = target
    }
    deref() {
      return this.#target
    }
  }
  globalThis.FinalizationRegistry = class FinalizationRegistry {
    register() {}
    unregister() {
      return false
    }
  }
}

function abortError(signal) {
  const error = new Error('The operation was aborted', { cause: signal.reason })
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' })
}

module.exports = { TimerQueue, install }
