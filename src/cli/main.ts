#!/usr/bin/env node
import { buildProgram } from './program.js'
import { reportError } from './process/report-error.js'
import { exitCodes } from './process/exit-code.js'
import { hideWarnings } from './process/hidden-warnings.js'
import { flushOutput, printStatus, handleOutputErrors } from './process/stdio.js'

handleOutputErrors()
hideWarnings()
try {
  await buildProgram().parseAsync()
} catch (thrown) {
  process.exitCode = reportError(thrown)
}
const failure = await flushOutput()
if (failure !== undefined) {
  printStatus(`ptc: the output is incomplete: ${failure.message}`)
  process.exitCode = process.exitCode || exitCodes.failed
  await flushOutput()
}
// Native threads and keep-alive sockets of libraries would delay the exit by seconds.
process.exit()
