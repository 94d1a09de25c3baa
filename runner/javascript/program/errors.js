/* Errors of tool calls, which code can catch, and the end of a cell, which it should not. */
'use strict'

// Code may declare these names.
const { Object } = globalThis

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

  /** The members of a result. Other values than integers, which Node.js refuses, have no exit code. */
  get report() {
    const number = typeof this.code === 'string' ? Number(this.code) : this.code
    return { error: this.message, ...(Number.isInteger(number) && { exit_code: number & 0xff }) }
  }
}

module.exports = { CellStop, ProcessExit, errorClasses, toolError }
