#!/usr/bin/env node
import { useCompileCache } from './process/compile-cache.js'

useCompileCache()
const { buildProgram } = await import('./program.js')
const { reportError } = await import('./process/report-error.js')
const { exitCodes } = await import('./process/exit-code.js')
const { hideWarnings } = await import('./process/hidden-warnings.js')
const { flushOutput, printStatus, handleOutputErrors } = await import('./process/stdio.js')

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
