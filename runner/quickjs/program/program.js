/*
 * The program's side: runs in the engine, before any cell. Defines what programs expect and the language lacks, and
 * returns the functions that the session calls, which throw nothing.
 *
 * Each file takes what it needs of the language when it is loaded: later code may change globals and prototypes.
 */
'use strict'
const globals = require('./globals.js')
const { sentenceAboutModule } = require('./missing.js')

function start({ IMPORT, META, NAME }) {
  globalThis.Atomics = {} // the formatter wants one, and the engine has none
  const { inspect } = require('inspect')
  delete globalThis.Atomics
  defineProperty(globalThis, 'global', { value: globalThis, writable: true, configurable: true })
  const { installStacks, formatError } = require('./stacks.js')
  installStacks()
  for (const file of ['console', 'timers', 'text', 'address', 'locale', 'events', 'clone', 'random'])
    require(file).install()
  inspect(
    new (class {
      value = 0
    })(),
  ) // the formatter looks for URL at its first use, and code may declare that name
  defineHidden(IMPORT, refuseImport)
  defineHidden(META, Object.freeze({ url: 'file:///cell.js', filename: '/cell.js', dirname: '/' }))
  defineHidden(NAME, (value, name) => Object.defineProperty(value, 'name', { value: name, configurable: true }))
  const calls = openCalls()
  return { ...calls, fire: require('./timers.js').fire, formatError, readGlobals, setInput }
}

function defineHidden(name, value) {
  Object.defineProperty(globalThis, name, { value })
}

const { defineProperty } = Object
const { parse, stringify } = JSON

function setInput(text) {
  defineProperty(globalThis, 'input_data', { value: parse(text), writable: true, configurable: true, enumerable: true })
}

/** The globals as JSON; undefined when the code has made that impossible. */
function readGlobals() {
  try {
    return stringify(globals.readGlobals())
  } catch {
    return undefined
  }
}

/** The calls of tools, and how they get their results. */
function openCalls() {
  const { errorClasses, toolError } = require('./errors.js')
  const tools = require('./tools.js')
  const waiting = { __proto__: null }
  const take = (index) => {
    const call = waiting[index]
    delete waiting[index]
    return call
  }
  return {
    configure(text) {
      const { tools: signatures, argumentBytes, startedAt } = parse(text)
      const call = (tool, values, resolve, reject) => {
        const answer = host.call(tool, values)
        if (typeof answer === 'string') reject(toolError(tool, { status: 'denied', message: answer }))
        else waiting[answer] = { tool, resolve, reject }
      }
      tools.install({ limits: { argument_bytes: argumentBytes }, call }, signatures, errorClasses)
      installPerformance(startedAt)
    },
    resolve: (index, text) => take(index)?.resolve(parse(text)),
    reject(index, text) {
      const call = take(index)
      call?.reject(toolError(call.tool, parse(text)))
    },
  }
}

/** The engine's own counts from the time at which the engine was made, and in milliseconds. */
function installPerformance(timeOrigin) {
  const value = { now: () => host.monotonic(), timeOrigin }
  defineProperty(globalThis, 'performance', { value, writable: true, configurable: true })
}

/** The clear end of each import: there are no modules. */
async function refuseImport(specifier) {
  const name = String(specifier)
  const message = `Cannot import '${name}': this sandbox has no modules. ${sentenceAboutModule(name)}`
  throw Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' })
}

module.exports = { start }
