import crypto from 'node:crypto'
import fs from 'node:fs'

const retryMs = 2
/** What is said on the status descriptor; interpreter.ts knows the same numbers. */
const readyStatus = 1
const overStatus = 2 // followed by the exit code
const idle = new Int32Array(new SharedArrayBuffer(4))

/**
 * The only functions that lead from the realm to Node. Each does one fixed thing to one fixed descriptor, takes and gives
 * numbers, strings and byte views, and never throws (an error object of this side would be a handle on it):
 * a failure is a negative number or null. inside.mjs never lets them out of its closures.
 */
export function makeDoors({ interruptDescriptor, statusDescriptor }) {
  const interrupts = watchInterrupts(interruptDescriptor)
  let ready = false

  return Object.freeze({
    /** Blocks until the host sends something; 0 when it has gone. */
    read(view) {
      if (!ready) {
        // The program's first read is the moment the interpreter is of use: Python is up, the runner is waiting.
        ready = true
        whole(statusDescriptor, Uint8Array.of(readyStatus))
      }
      const count = blocking(() => fs.readSync(0, view, 0, view.byteLength, null))
      interrupts.forget()
      return count
    },
    write: (view) => whole(1, view),
    writeError: (view) => whole(2, view),
    /** Tells the parent that all is over, which then ends what does not end by itself. */
    over: (exitCode) => whole(statusDescriptor, Uint8Array.of(overStatus, exitCode)),
    log: (text) => whole(2, Buffer.from(`${text}\n`)),
    now: () => performance.now(),
    interrupted: () => interrupts.take(),
    /** Base64 of so many random bytes. */
    random: (count) => (count > 0 && count <= 65_536 ? crypto.randomBytes(count).toString('base64') : ''),
    decode,
  })
}

/**
 * The host raises an interrupt by changing the one byte of an unlinked file that this process holds open for reading.
 * Reading it never blocks, which a pipe or a signal could not promise while Python occupies the only thread.
 */
function watchInterrupts(descriptor) {
  const byte = new Uint8Array(1)
  let seen = 0
  const current = () => {
    try {
      fs.readSync(descriptor, byte, 0, 1, 0)
    } catch {
      // Gone with the host; the end of input says so as well.
    }
    return byte[0]
  }
  return {
    take() {
      const now = current()
      if (now === seen) return false
      seen = now
      return true
    },
    /** An interrupt is for code that runs; one that arrives while the runner waits has missed its target. */
    forget() {
      seen = current()
    },
  }
}

function whole(descriptor, view) {
  let written = 0
  while (written < view.byteLength) {
    const count = blocking(() => fs.writeSync(descriptor, view, written, view.byteLength - written))
    if (count < 0) return count
    written += count
  }
  return written
}

/** The descriptors are pipes that should block; where they don't, wait a little and ask again. */
function blocking(operation) {
  for (;;) {
    try {
      return operation()
    } catch (error) {
      if (error.code === 'EOF') return 0 // how Windows ends a pipe
      if (error.code !== 'EAGAIN' && error.code !== 'EINTR') return -1
      Atomics.wait(idle, 0, 0, retryMs)
    }
  }
}

const decoders = new Map()

/** Null: not in that encoding. */
function decode(view, encoding, fatal, ignoreBOM) {
  try {
    const key = `${encoding} ${fatal} ${ignoreBOM}`
    let decoder = decoders.get(key)
    if (decoder === undefined) {
      decoder = new TextDecoder(encoding, { fatal, ignoreBOM })
      decoders.set(key, decoder)
    }
    return decoder.decode(view)
  } catch {
    return null
  }
}
