/* Makes `Date`, `Intl`, `performance` and `process` read the session's time, which a rebuild repeats. */
'use strict'
const os = require('node:os')
const { performance } = require('node:perf_hooks')

// Code may declare these names.
const { BigInt, Date: RealDate, Intl, Math, Object, Proxy, Reflect, process } = globalThis

function install(clock) {
  const now = () => clock.readWall()
  const ProgramDate = new Proxy(RealDate, {
    construct: (target, values, newTarget) =>
      Reflect.construct(target, values.length > 0 ? values : [now()], newTarget === ProgramDate ? target : newTarget),
    apply: () => new RealDate(now()).toString(),
  })
  define(RealDate.prototype, 'constructor', ProgramDate)
  define(RealDate, 'now', { now: () => now() }.now)
  globalThis.Date = ProgramDate
  installFormat(now)
  const monotonic = { now: () => clock.readMonotonic() }.now
  define(Object.getPrototypeOf(performance), 'now', monotonic)
  define(performance, 'now', monotonic)
  Object.defineProperty(performance, 'timeOrigin', { get: () => clock.origin, configurable: true })
  process.hrtime = hrtime(clock)
  process.uptime = () => clock.readMonotonic() / 1_000
  // What differs from one sandbox to the next.
  Object.defineProperty(process, 'pid', { value: 2, enumerable: true })
  Object.defineProperty(process, 'ppid', { value: 1, enumerable: true })
  os.hostname = () => 'sandbox'
  os.uptime = () => Math.floor(clock.readMonotonic() / 1_000)
  os.loadavg = () => [0, 0, 0]
  os.freemem = () => os.totalmem()
}

/** Without an argument, both read the real clock. */
function installFormat(now) {
  const { prototype } = Intl.DateTimeFormat
  const { get } = Object.getOwnPropertyDescriptor(prototype, 'format')
  const { formatToParts } = prototype
  Object.defineProperty(prototype, 'format', {
    configurable: true,
    get() {
      const format = get.call(this)
      return (date) => format(date === undefined ? now() : date)
    },
  })
  define(prototype, 'formatToParts', function (date) {
    return formatToParts.call(this, date === undefined ? now() : date)
  })
}

function hrtime(clock) {
  const read = (before) => {
    const time = clock.readMonotonic()
    const whole = [Math.floor(time / 1_000), Math.round((time % 1_000) * 1e6)]
    if (before === undefined) return whole
    const [seconds, nanoseconds] = [whole[0] - before[0], whole[1] - before[1]]
    return nanoseconds < 0 ? [seconds - 1, nanoseconds + 1e9] : [seconds, nanoseconds]
  }
  read.bigint = () => BigInt(Math.round(clock.readMonotonic() * 1_000)) * 1_000n
  return read
}

function define(object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, configurable: true })
}

module.exports = { install }
