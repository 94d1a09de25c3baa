/* `Intl` and the functions that depend on it. The session formats. */
'use strict'

const { parse, stringify } = JSON
const { now } = Date
const { getTime } = Date.prototype
const { apply } = Reflect
const errors = { __proto__: null, RangeError, TypeError }

function call(className, settings, method, values) {
  const answer = parse(host.callFormatter(className, settings, method, stringify(values)))
  if (answer.error === undefined) return answer.value
  throw new (errors[answer.name] ?? Error)(answer.error)
}

/** Returns a number for the session: JSON has no NaN, no infinity and no integers of any size. */
function numberOf(value) {
  return typeof value === 'bigint' ? { bigint: String(value) } : { number: String(Number(value)) }
}

const timeOf = (date) =>
  numberOf(date === undefined ? now() : date instanceof Date ? apply(getTime, date, []) : Number(date))
const list = (value) => Array.from(value, String)

/** How the methods of each class pass their arguments. */
const classes = {
  Collator: { compare: [String, String] },
  DateTimeFormat: { format: [timeOf], formatToParts: [timeOf], formatRange: [timeOf, timeOf] },
  DisplayNames: { of: [String] },
  ListFormat: { format: [list], formatToParts: [list] },
  NumberFormat: { format: [numberOf], formatToParts: [numberOf], formatRange: [numberOf, numberOf] },
  PluralRules: { select: [numberOf] },
  RelativeTimeFormat: { format: [numberOf, String], formatToParts: [numberOf, String] },
  Segmenter: { segment: [String] },
}
/** These fail when they are used, with their names. */
const unavailable = ['DurationFormat', 'Locale', 'supportedValuesOf']
/** These are functions that need no `this`. */
const bound = { Collator: 'compare', DateTimeFormat: 'format', NumberFormat: 'format' }

function settingsOf(locales, options) {
  return stringify([locales ?? undefined, options ?? undefined])
}

function createClass(name, methods) {
  const Formatter = class {
    #settings
    constructor(locales, options) {
      this.#settings = settingsOf(locales, options)
      call(name, this.#settings, 'resolvedOptions', []) // throws for what is invalid
      const method = bound[name]
      if (method) Object.defineProperty(this, method, { value: this[method].bind(this), configurable: true })
    }
    resolvedOptions() {
      return call(name, this.#settings, 'resolvedOptions', [])
    }
    static supportedLocalesOf(locales, options) {
      return call(name, settingsOf(locales, options), 'supportedLocalesOf', [])
    }
    static run(formatter, method, values) {
      const passed = methods[method].map((convert, index) => convert(values[index]))
      const value = call(name, formatter.#settings, method, passed)
      return method === 'segment' ? segmentsOf(value, passed[0]) : value
    }
  }
  const { run } = Formatter
  delete Formatter.run
  for (const method of Object.keys(methods)) {
    const value = {
      [method](...values) {
        return run(this, method, values)
      },
    }[method]
    Object.defineProperty(Formatter.prototype, method, { value, writable: true, configurable: true })
  }
  Object.defineProperty(Formatter, 'name', { value: name })
  Object.defineProperty(Formatter.prototype, Symbol.toStringTag, { value: `Intl.${name}`, configurable: true })
  // As in other engines, `new` is optional for the older classes.
  return new Proxy(Formatter, { apply: (target, _self, values) => new target(...values) })
}

/** The segments of a text, which can be iterated, and found by an index. */
function segmentsOf(segments, input) {
  for (const each of segments) each.input = input
  const containing = (index = 0) =>
    index >= 0 && index < input.length ? segments.findLast((each) => each.index <= index) : undefined
  return Object.defineProperty(segments, 'containing', { value: containing })
}

const dateDefaults = { year: 'numeric', month: 'numeric', day: 'numeric' }
const timeDefaults = { hour: 'numeric', minute: 'numeric', second: 'numeric' }
const dateParts = ['weekday', 'year', 'month', 'day', 'dateStyle']
const timeParts = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits', 'timeStyle']

function dateMethod(parts, defaults) {
  return function (locales, options) {
    const time = apply(getTime, this, [])
    if (Number.isNaN(time)) return 'Invalid Date'
    const given = options ?? {}
    const isGiven = parts.some((name) => given[name] !== undefined)
    const complete = isGiven ? given : { ...defaults, ...given }
    return call('DateTimeFormat', settingsOf(locales, complete), 'format', [numberOf(time)])
  }
}

function install() {
  const Intl = { getCanonicalLocales: (locales) => call('Collator', settingsOf(locales), 'supportedLocalesOf', []) }
  for (const name of Object.keys(classes)) Intl[name] = createClass(name, classes[name])
  for (const name of unavailable)
    Intl[name] = function () {
      throw new Error(`Intl.${name} is not available here`)
    }
  Object.defineProperty(Intl, Symbol.toStringTag, { value: 'Intl', configurable: true })
  Object.defineProperty(globalThis, 'Intl', { value: Intl, writable: true, configurable: true })
  const number = {
    toLocaleString(locales, options) {
      return call('NumberFormat', settingsOf(locales, options), 'format', [numberOf(this.valueOf())])
    },
  }
  const functions = [
    [Number.prototype, number],
    [BigInt.prototype, number],
    [
      Date.prototype,
      {
        toLocaleString: dateMethod([...dateParts, ...timeParts], { ...dateDefaults, ...timeDefaults }),
        toLocaleDateString: dateMethod(dateParts, dateDefaults),
        toLocaleTimeString: dateMethod(timeParts, timeDefaults),
      },
    ],
    [
      String.prototype,
      {
        localeCompare(other, locales, options) {
          return call('Collator', settingsOf(locales, options), 'compare', [String(this), String(other)])
        },
      },
    ],
  ]
  for (const [prototype, methods] of functions)
    for (const name of Object.keys(methods))
      Object.defineProperty(prototype, name, { value: methods[name], writable: true, configurable: true })
}

module.exports = { install }
