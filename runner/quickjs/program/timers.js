/* Timers: the session has their times and their order, and calls `fire`. */
'use strict'
const { formatError } = require('./stacks.js')

const callbacks = { __proto__: null } // by the number of a timer, or the negative number of an immediate
const { apply } = Reflect
const { defineProperties } = Object

class Timeout {
  #id
  constructor(id) {
    this.#id = id
  }
  ref() {
    return this
  }
  unref() {
    return this
  }
  hasRef() {
    return true
  }
  close() {
    clearTimeout(this)
    return this
  }
  [Symbol.toPrimitive]() {
    return this.#id
  }
}

let immediates = 0

function start(isRepeated) {
  return (callback, ms, ...values) => {
    checkCallback(callback)
    const id = host.startTimer(Number(ms), isRepeated ? 1 : 0)
    callbacks[id] = { callback, values, isRepeated }
    return new Timeout(id)
  }
}

function clearTimeout(timer) {
  const id = Number(timer)
  if (!(id in callbacks) || id < 0) return
  delete callbacks[id]
  host.clearTimer(id)
}

function setImmediate(callback, ...values) {
  checkCallback(callback)
  immediates += 1
  callbacks[-immediates] = { callback, values, isRepeated: false }
  host.startImmediate(-immediates)
  return -immediates
}

function clearImmediate(id) {
  if (!(id in callbacks) || id >= 0) return
  delete callbacks[id]
  host.clearImmediate(id)
}

function checkCallback(callback) {
  if (typeof callback === 'function') return
  const error = new TypeError('The "callback" argument must be of type function.')
  error.code = 'ERR_INVALID_ARG_TYPE'
  throw error
}

/** Calls the callback of a timer. Returns the text of its error. */
function fire(id) {
  const timer = callbacks[id]
  if (timer === undefined) return undefined
  if (!timer.isRepeated) delete callbacks[id]
  try {
    apply(timer.callback, undefined, timer.values)
    return undefined
  } catch (error) {
    return formatError(error)
  }
}

function install() {
  const functions = {
    setTimeout: start(false),
    setInterval: start(true),
    clearTimeout,
    clearInterval: clearTimeout,
    setImmediate,
    clearImmediate,
  }
  for (const name in functions) {
    const value = functions[name]
    Object.defineProperty(value, 'name', { value: name })
    globalThis[name] = value
  }
  // When memory is collected can't be repeated, so nothing is collected that the program may ask for.
  class WeakRef {
    #target
    constructor(target) {
      this.#target = target
    }
    deref() {
      return this.#target
    }
  }
  class FinalizationRegistry {
    register() {}
    unregister() {
      return false
    }
  }
  const hidden = (value) => ({ value, writable: true, configurable: true })
  defineProperties(globalThis, { WeakRef: hidden(WeakRef), FinalizationRegistry: hidden(FinalizationRegistry) })
}

module.exports = { fire, install }
