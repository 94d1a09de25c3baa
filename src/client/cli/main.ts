#!/usr/bin/env node
import { buildProgram } from './program.js'
import { reportError } from './report-error.js'
import { exitCodes } from './exit-code.js'
import { flush, say, watchOutput } from './terminal.js'

watchOutput()
try {
  await buildProgram().parseAsync()
} catch (thrown) {
  process.exitCode = reportError(thrown)
}
const failure = await flush()
if (failure !== undefined) {
  say(`ptc: the output is incomplete: ${failure.message}`)
  process.exitCode = process.exitCode || exitCodes.failed
  await flush()
}
// Not by itself: native threads and keep-alive sockets of libraries would hold the process for seconds.
process.exit()
