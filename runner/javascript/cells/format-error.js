/* The text of an error of the program. */
'use strict'
const { dirname } = require('node:path')
const { inspect, types } = require('node:util')
const { createFormatError } = require('./error-text.js')

const { isNativeError } = types
const { Error: ProgramError } = programGlobal
const RUNNER_FOLDER = dirname(__dirname)

/** Returns the text of an error with the lines of cells only. Never throws. */
const formatError = createFormatError({
  inspect,
  isError: (value) => isNativeError(value) || value instanceof ProgramError,
  // Hides the frames of Node and of the runner.
  isShown: (line) =>
    !/^\s+at /.test(line) || !(line.includes('node:') || line.includes(RUNNER_FOLDER) || line.includes('<anonymous>:')),
})

module.exports = { formatError }
