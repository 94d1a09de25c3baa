/*
 * Timers of the program. They are due by the waiting time of the program clock, so a wait is a durable timer of the
 * workflow, and a rebuild repeats their order. `setImmediate` stays real: it waits for nothing.
 *
 * Modules of Node that were loaded before, such as `http`, keep real timers.
 */
'use strict'
// Code may declare these names.
const { AbortController, AbortSignal, DOMException, Error, Object, Promise, TypeError } = globalThis
const timers = require('node:timers')
const promises = require('node:timers/promises')
const { promisify } = require('node:util')

function install(queue) {
  const start =
    (isRepeated) =>
    (callback, ms, ...values) => {
      if (typeof callback !== 'function')
        throw Object.assign(new TypeError('The "callback" argument must be of type function.'), {
          code: 'ERR_INVALID_ARG_TYPE',
        })
      return queue.start(callback, ms, values, isRepeated)
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

module.exports = { install }
