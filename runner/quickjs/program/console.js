/* `console`, with the texts of Node.js. */
'use strict'
const { formatWithOptions, inspect } = require('inspect')

const INDENT = 2
const PIECE = 1_000_000 // the session keeps little of a long text
const { apply } = Reflect
const { slice } = String.prototype
const MAXIMUM_ROWS = 1_000
const { keys } = Object
const { isArray } = Array

function install() {
  let indentation = ''
  const counts = { __proto__: null }
  const started = { __proto__: null }
  const print = (text, isError = false) => {
    const lines = indentation === '' ? text : indentation + text.replace(/\n/g, `\n${indentation}`)
    for (let index = 0; index < lines.length; index += PIECE)
      host.print(apply(slice, lines, [index, index + PIECE]), isError ? 1 : 0)
    host.print('\n', isError ? 1 : 0)
  }
  const log = (...values) => print(format(values))
  const warn = (...values) => print(format(values), true)
  const elapsed = (label) => `${label}: ${(host.monotonic() - started[label]).toFixed(3)}ms`
  globalThis.console = {
    log,
    info: log,
    debug: log,
    warn,
    error: warn,
    dir: (value, options) => print(inspect(value, { customInspect: false, ...options })),
    dirxml: log,
    trace: (...values) => print(`Trace: ${format(values)}`, true),
    table: (data) => print(tableOf(data)),
    assert: (condition, ...values) => {
      if (!condition) print(values.length === 0 ? 'Assertion failed' : `Assertion failed: ${format(values)}`, true)
    },
    count: (label = 'default') => {
      counts[label] = (counts[label] ?? 0) + 1
      print(`${label}: ${counts[label]}`)
    },
    clear: () => {},
    timeStamp: () => {},
    profile: () => {},
    profileEnd: () => {},
    countReset: (label = 'default') => void delete counts[label],
    group: (...values) => {
      if (values.length > 0) log(...values)
      indentation += ' '.repeat(INDENT)
    },
    groupCollapsed: (...values) => globalThis.console.group(...values),
    groupEnd: () => {
      indentation = indentation.slice(INDENT)
    },
    time: (label = 'default') => {
      started[label] = host.monotonic()
    },
    timeLog: (label = 'default', ...values) => {
      if (label in started) log(elapsed(label), ...values)
    },
    timeEnd: (label = 'default') => {
      if (label in started) print(elapsed(label))
      delete started[label]
    },
  }
}

/** Most texts need no formatter. */
function format(values) {
  if (values.length === 1 && typeof values[0] === 'string') return values[0]
  return formatWithOptions({}, ...values)
}

/** The table of Node.js: one row for each member, one column for each of its members. */
function tableOf(data) {
  if (data === null || typeof data !== 'object') return inspect(data)
  const show = (value) => inspect(value, { maxArrayLength: 3, breakLength: Infinity, depth: 1 })
  const entries =
    data instanceof Map || data instanceof Set
      ? [...data].map((each, index) => [index, each])
      : keys(data).map((key) => [key, data[key]])
  const columns = ['(index)']
  let hasValues = false
  const rows = entries.slice(0, MAXIMUM_ROWS).map(([key, value]) => {
    const row = { __proto__: null, '(index)': String(key) }
    if (value === null || typeof value !== 'object') {
      hasValues = true
      row.Values = show(value)
      return row
    }
    for (const name of isArray(value) ? [...value.keys()].map(String) : keys(value)) {
      if (!columns.includes(name)) columns.push(name)
      row[name] = show(value[name])
    }
    return row
  })
  if (hasValues) columns.push('Values')
  const widths = columns.map((name) => Math.max(name.length, ...rows.map((row) => row[name]?.length ?? 0)) + 2)
  const line = (left, middle, right) => left + widths.map((width) => '─'.repeat(width)).join(middle) + right
  const cells = (texts) => `│${texts.map((text, index) => ` ${text}`.padEnd(widths[index])).join('│')}│`
  return [
    line('┌', '┬', '┐'),
    cells(columns),
    line('├', '┼', '┤'),
    ...rows.map((row) => cells(columns.map((name) => row[name] ?? ''))),
    line('└', '┴', '┘'),
  ].join('\n')
}

module.exports = { install }
