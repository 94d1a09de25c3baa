/* Stacks in the form of Node.js, without frames of the runner, and the texts of errors. */
'use strict'
const { inspect } = require('inspect')
const { createFormatError } = require('./error-text.js')
const { substituteOf } = require('./missing.js')

const RUNNER = 'runner'
const { isError } = Error
const { apply } = Reflect
const { defineProperty } = Object
const { toString: errorToString } = Error.prototype

function installStacks() {
  Error.prepareStackTrace = prepareStackTrace
  // The session reads the names of errors of the engine, and must not call code of the program for that.
  for (const { prototype } of [InternalError, SyntaxError])
    defineProperty(prototype, 'name', { writable: false, configurable: false })
}

function prepareStackTrace(error, frames) {
  let text
  try {
    text = apply(errorToString, error, [])
  } catch {
    text = 'Error'
  }
  for (let index = 0; index < frames.length; index += 1) {
    const frame = frames[index]
    const file = frame.getFileName()
    if (file === RUNNER || frame.isNative() || file === null || file === '<input>') continue
    const name = frame.getFunctionName()
    const place = `${file}:${frame.getLineNumber()}:${frame.getColumnNumber()}`
    text +=
      name === null || name === '' || name === '<eval>'
        ? `\n    at ${place}`
        : `\n    at ${withoutSuffix(name)} (${place})`
  }
  return text
}

/** A function of the top level has the number of its cell in its name: see normalise.js. */
function withoutSuffix(name) {
  return apply(replace, name, [/\$\d+$/, ''])
}
const { replace } = String.prototype

const format = createFormatError({ inspect, isError, isShown: () => true })

/** Returns the text of an error. Never throws. */
function formatError(error) {
  const text = format(error)
  try {
    if (!(error instanceof ReferenceError)) return text
    const name = /^(\w+) is not defined$/.exec(error.message)?.[1]
    const substitute = substituteOf(name)
    return substitute === undefined ? text : `${text}\n[hint] ${name}: ${substitute}.`
  } catch {
    return text
  }
}

module.exports = { formatError, installStacks }
