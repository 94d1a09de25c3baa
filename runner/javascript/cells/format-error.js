/* The text of an error for the model. */
'use strict'
const { dirname } = require('node:path')
const { inspect, types } = require('node:util')

const { isNativeError } = types
const { Error: ProgramError } = programGlobal
const MAXIMUM_ERROR_CHARACTERS = 8_000
const RUNNER_FOLDER = dirname(__dirname)

/** Returns the text of an error with the lines of cells only. Never throws. */
function formatError(error) {
  try {
    const text = isError(error) ? errorText(error, new Set()) : `Uncaught ${inspect(error)}`
    if (text.length <= MAXIMUM_ERROR_CHARACTERS) return text.toWellFormed?.() ?? text
    const half = MAXIMUM_ERROR_CHARACTERS / 2
    return `${text.slice(0, half)}\n[... cut ...]\n${text.slice(-half)}`
  } catch {
    return 'an error that can not be shown' // hostile getters
  }
}

function isError(value) {
  return isNativeError(value) || value instanceof ProgramError
}

function errorText(error, seen) {
  seen.add(error)
  const { stack, cause, errors } = error
  const lines = String(stack ?? error)
    .split('\n')
    .filter(isShown)
  if (Array.isArray(errors))
    for (const each of errors.slice(0, 10)) if (!seen.has(each)) lines.push(...indented(errorOrValue(each, seen)))
  if (cause !== undefined && !seen.has(cause)) lines.push(...indented(`[cause]: ${errorOrValue(cause, seen)}`))
  return lines.join('\n')
}

function errorOrValue(value, seen) {
  return isError(value) ? errorText(value, seen) : inspect(value, { depth: 2 })
}

function indented(text) {
  return text.split('\n').map((line) => `  ${line}`)
}

/** Hides the frames of Node and of the runner. */
function isShown(line) {
  return (
    !/^\s+at /.test(line) || !(line.includes('node:') || line.includes(RUNNER_FOLDER) || line.includes('<anonymous>:'))
  )
}

module.exports = { formatError }
