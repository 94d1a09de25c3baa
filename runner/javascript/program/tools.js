/* The tools as functions: they are async, take one object, and resolve to parsed JSON. */
'use strict'

// Code may declare these names.
const { Array, JSON, Number, Object, Promise, RangeError, TypeError } = globalThis
const { parse, stringify } = JSON
const MAXIMUM_STRUCTURAL_BYTES = 256 * 1024 // outside of strings; the host refuses more, for any limit of arguments

/** Returns the arguments of one call as JSON: later changes by the code are not part of it. */
function encodeArguments(signature, given, limit) {
  const { name, required } = signature
  const [input = {}, ...others] = given
  if (others.length > 0 || input === null || typeof input !== 'object' || Array.isArray(input))
    throw new TypeError(`${name}() takes one object with its arguments`)
  let text
  try {
    text = stringify(input, rejectLoss)
  } catch (error) {
    throw new TypeError(`${name}() takes JSON values only: ${error.message}`)
  }
  if (text === undefined) throw new TypeError(`${name}() takes JSON values only`)
  if (text.length > limit)
    throw new RangeError(`the arguments of ${name}() are ${text.length} bytes, the limit is ${limit}`)
  const structure = text.length > MAXIMUM_STRUCTURAL_BYTES ? text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/g, '""').length : 0
  if (structure > MAXIMUM_STRUCTURAL_BYTES)
    throw new RangeError(
      `the arguments of ${name}() are ${structure} bytes outside of strings, the limit is ${MAXIMUM_STRUCTURAL_BYTES}`,
    )
  const missing = required.filter((parameter) => input[parameter] === undefined)
  if (missing.length > 0) throw new TypeError(describeMissing(signature, missing))
  return text
}

function describeMissing(signature, missing) {
  const names = missing.map((each) => `"${each}"`).join(', ')
  return `${signature.name}() is missing ${names}; it takes ${describeParameters(signature)}`
}

function describeParameters({ parameters, required }) {
  if (parameters.length === 0) return 'no arguments'
  return `{ ${parameters.map((each) => (required.includes(each) ? each : `${each}?`)).join(', ')} }`
}

/** Refuses what JSON would change without a word. */
function rejectLoss(key, value) {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`"${key}" is ${value}`)
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError(`"${key}" is a ${typeof value}`)
  return value
}

/** The functions of tools, by their names. */
const installedTools = { __proto__: null }

/** Adds tools and error classes to the globals: a cell may shadow a name. */
function install(session, signatures, errorClasses) {
  for (const signature of signatures) {
    const { name, tool = name } = signature
    const call = async (...given) => {
      const text = encodeArguments(signature, given, session.limits.argument_bytes)
      return new Promise((resolve, reject) => session.call(tool, text, resolve, reject))
    }
    Object.defineProperty(call, 'name', { value: name, configurable: true })
    Object.defineProperty(globalThis, name, { value: call, writable: true, configurable: true })
    installedTools[name] = call
  }
  for (const [name, value] of Object.entries(errorClasses))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true })
}

/** Makes a value of the program from JSON. */
const fromJson = (text) => parse(text)

module.exports = { describeMissing, describeParameters, fromJson, install, installedTools }
