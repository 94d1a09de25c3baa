/* `Event`, `EventTarget`, `AbortController` and `AbortSignal`. */
'use strict'
const { formatError } = require('./stacks.js')

class Event {
  #isCanceled = false
  #isStopped = false
  constructor(type, { cancelable = false } = {}) {
    this.type = String(type)
    this.cancelable = Boolean(cancelable)
    this.target = null
    this.currentTarget = null
    this.timeStamp = host.monotonic()
  }
  get defaultPrevented() {
    return this.#isCanceled
  }
  preventDefault() {
    if (this.cancelable) this.#isCanceled = true
  }
  stopPropagation() {}
  stopImmediatePropagation() {
    this.#isStopped = true
  }
  static isStopped(event) {
    return event.#isStopped
  }
}
const { isStopped } = Event
delete Event.isStopped

class CustomEvent extends Event {
  constructor(type, options = {}) {
    super(type, options)
    this.detail = options.detail ?? null
  }
}

class EventTarget {
  #listeners = []
  addEventListener(type, listener, options) {
    if (listener === null || listener === undefined) return
    const { once = false, signal } = typeof options === 'object' && options !== null ? options : {}
    if (signal?.aborted) return
    const name = String(type)
    if (this.#listeners.some((each) => each.name === name && each.listener === listener)) return
    this.#listeners = [...this.#listeners, { name, listener, once }]
    signal?.addEventListener('abort', () => this.removeEventListener(type, listener), { once: true })
  }
  removeEventListener(type, listener) {
    const name = String(type)
    this.#listeners = this.#listeners.filter((each) => each.name !== name || each.listener !== listener)
  }
  dispatchEvent(event) {
    event.target = event.currentTarget = this
    const handler = this[`on${event.type}`]
    if (typeof handler === 'function') deliver(this, handler, event)
    for (const { name, listener, once } of this.#listeners) {
      if (name !== event.type) continue
      if (isStopped(event)) break
      if (once) this.removeEventListener(name, listener)
      deliver(this, listener, event)
    }
    return !event.defaultPrevented
  }
}

/** An error of a listener does not reach the code that dispatches. */
function deliver(target, listener, event) {
  try {
    if (typeof listener === 'function') Reflect.apply(listener, target, [event])
    else listener.handleEvent(event)
  } catch (error) {
    host.print(`Uncaught in a listener of "${event.type}": ${formatError(error)}\n`)
  }
}

class AbortSignal extends EventTarget {
  #reason = undefined
  #isAborted = false
  onabort = null
  constructor(key) {
    super()
    if (key !== secret) throw new TypeError('Illegal constructor')
    Object.defineProperty(this, 'onabort', { enumerable: false })
  }
  get aborted() {
    return this.#isAborted
  }
  get reason() {
    return this.#reason
  }
  throwIfAborted() {
    if (this.#isAborted) throw this.#reason
  }
  static abort(reason) {
    const signal = new AbortSignal(secret)
    abort(signal, reason)
    return signal
  }
  static timeout(ms) {
    const signal = new AbortSignal(secret)
    const reason = () => new DOMException('The operation was aborted due to timeout', 'TimeoutError')
    setTimeout(() => abort(signal, reason()), ms)
    return signal
  }
  static any(signals) {
    const signal = new AbortSignal(secret)
    for (const each of signals) {
      if (each.aborted) {
        abort(signal, each.reason)
        break
      }
      each.addEventListener('abort', () => abort(signal, each.reason), { once: true })
    }
    return signal
  }
  static abortIt(signal, reason) {
    if (signal.#isAborted) return
    signal.#isAborted = true
    signal.#reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason
    signal.dispatchEvent(new Event('abort'))
  }
}
const secret = Symbol('secret')
const { abortIt: abort } = AbortSignal
delete AbortSignal.abortIt

class AbortController {
  #signal = new AbortSignal(secret)
  get signal() {
    return this.#signal
  }
  abort(reason) {
    abort(this.#signal, reason)
  }
}

const { setTimeout } = globalThis

function install() {
  Object.assign(globalThis, { AbortController, AbortSignal, CustomEvent, Event, EventTarget })
}

module.exports = { install }
