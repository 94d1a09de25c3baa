#!/usr/bin/env node
import { buildProgram } from './program.js'
import { reportError } from './report-error.js'
import { flush, tolerateClosedPipes } from './terminal.js'

tolerateClosedPipes()
try {
  await buildProgram().parseAsync()
} catch (thrown) {
  process.exitCode = reportError(thrown)
}
await flush()
// Not by itself: native threads and keep-alive sockets of libraries would hold the process for seconds.
process.exit()
