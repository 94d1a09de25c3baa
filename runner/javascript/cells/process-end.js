/* The functions that end the process. Code of a program must not reach them by replacing `process.exit`. */
'use strict'
const { reallyExit } = process

module.exports = { exit: reallyExit.bind(process) }
