/* Errors of tool calls, which code can catch, and the end of a cell, which it should not. */
'use strict'

const MAXIMUM_ERROR_CHARACTERS = 8_000
const RUNNER_FOLDER = require('node:path').dirname(__dirname)

/** A tool call failed. `status` says how: tool_error, invalid_arguments, cancelled, or that of a subclass. */
class ToolError extends Error {
  constructor(message, tool = '', status = 'tool_error') {
    super(message)
    this.tool = tool
    this.status = status
  }
}

/** There is no such tool, or code may not call it. Nothing ran. */
class ToolDenied extends ToolError {}

/** The tool did not answer within its time. */
class ToolTimedOut extends ToolError {}

/** The call was interrupted: its effect may or may not have happened. It will not be repeated by itself. */
class ToolOutcomeUnknown extends ToolError {}

const errorClasses = { ToolError, ToolDenied, ToolTimedOut, ToolOutcomeUnknown }

for (const [name, { prototype }] of Object.entries(errorClasses))
  Object.defineProperty(prototype, 'name', { value: name, writable: true, configurable: true })

const byStatus = { denied: ToolDenied, timed_out: ToolTimedOut, outcome_unknown: ToolOutcomeUnknown }

/** Returns the error with which the promise of a failed call is rejected. */
function toolError(tool, { status, message = status }) {
  const ErrorClass = Object.hasOwn(byStatus, status) ? byStatus[status] : ToolError
  return new ErrorClass(message, tool, status)
}

/** Ends a cell from the runner. */
class CellStop extends Error {
  constructor(kind, message) {
    super(message)
    this.kind = kind
  }
}

/** Ends a cell by `process.exit`. */
class ProcessExit extends Error {
  constructor(code) {
    super(`process.exit(${code})`)
    this.code = code
  }
}

/** Returns the text of an error with the lines of cells only. Never throws. */
function formatError(error) {
  try {
    const text = isError(error) ? errorText(error, new Set()) : `Uncaught ${String(inspect(error))}`
    if (text.length <= MAXIMUM_ERROR_CHARACTERS) return text.toWellFormed?.() ?? text
    const half = MAXIMUM_ERROR_CHARACTERS / 2
    return `${text.slice(0, half)}\n[... cut ...]\n${text.slice(-half)}`
  } catch {
    return 'an error that can not be shown' // hostile getters
  }
}

const { inspect } = require('node:util')
const { isNativeError } = require('node:util').types

function isError(value) {
  return isNativeError(value) || value instanceof Error
}

function errorText(error, seen) {
  seen.add(error)
  const { stack, cause, errors } = error
  const lines = String(stack ?? error).split('\n').filter(isShown)
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
  return !/^\s+at /.test(line) || !(line.includes('node:') || line.includes(RUNNER_FOLDER) || line.includes('<anonymous>:'))
}

module.exports = { CellStop, ProcessExit, errorClasses, formatError, toolError }
