/* The timers of the program, in the order in which they are due by the waiting time of its clock. */
'use strict'

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

  start(callback, ms, values, isRepeated) {
    return new Timeout(this, callback, ms, values, isRepeated)
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

module.exports = { TimerQueue }
