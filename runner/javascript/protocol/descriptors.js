/* The port of the channel in a container: the descriptors that the launcher has put there. */
'use strict'
const { readSync, writeSync } = require('node:fs')
const { exit } = require('../cells/process-end.js')

const INPUT = 3
const OUTPUT = 4

const descriptors = {
  read: (chunk) => retried(() => readSync(INPUT, chunk, 0, chunk.length, null)),
  write(bytes) {
    for (let offset = 0; offset < bytes.length;) offset += retried(() => writeSync(OUTPUT, bytes, offset))
  },
  end: () => exit(0),
}

/** Calls again after a signal has interrupted the call. */
function retried(call) {
  for (;;) {
    try {
      return call()
    } catch (error) {
      if (error.code === 'EAGAIN' || error.code === 'EINTR') continue
      if (error.code === 'EPIPE') exit(0)
      throw error
    }
  }
}

module.exports = { descriptors }
