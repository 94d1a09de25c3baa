import crypto from 'node:crypto'
import fs from 'node:fs'

const retryMs = 2
/** Messages on the status descriptor; src/sandbox/wasm/interpreter/interpreter.ts has the same numbers. */
const readyStatus = 1
const exitStatus = 2 // followed by the exit code
const waitBuffer = new Int32Array(new SharedArrayBuffer(4))

/**
 * The only functions of Node that the realm can call. Each function does one fixed operation, if needed on a fixed
 * descriptor. They take and return numbers, strings and byte views, and never throw, because an error object of Node's
 * realm would give the program access to it. A failure is a negative number (`read`, `write`, …) or null (`decode`).
 * realm-main.mjs keeps the functions in closures, which the program can't access.
 */
export function createHostBindings({ interruptDescriptor, statusDescriptor }) {
  const interrupts = createInterruptReader(interruptDescriptor)
  let ready = false

  return Object.freeze({
    /** Blocks until the host sends bytes. Returns 0 when the host has closed the pipe. */
    read(view) {
      if (!ready) {
        // The first read means that the interpreter is ready: Python has started, and the runner waits for a message.
        ready = true
        writeAll(statusDescriptor, Uint8Array.of(readyStatus))
      }
      const count = retryWhileBlocked(() => fs.readSync(0, view, 0, view.byteLength, null))
      interrupts.discardPending()
      return count
    },
    write: (view) => writeAll(1, view),
    writeError: (view) => writeAll(2, view),
    /** Announces the exit to the parent, which kills this process if it does not exit by itself. */
    exiting: (exitCode) => writeAll(statusDescriptor, Uint8Array.of(exitStatus, exitCode)),
    log: (text) => writeAll(2, Buffer.from(`${text}\n`)),
    now: () => performance.now(),
    interrupted: () => interrupts.poll(),
    /** Returns random bytes in Base64. */
    randomBase64: (count) => (count > 0 && count <= 65_536 ? crypto.randomBytes(count).toString('base64') : ''),
    decode,
  })
}

/**
 * The host raises an interrupt by changing the one byte of an unlinked file that this process has open for reading.
 * Reading the file never blocks. A pipe could block, and a signal would need the thread that Python occupies.
 */
function createInterruptReader(descriptor) {
  const byte = new Uint8Array(1)
  let seen = 0
  const current = () => {
    try {
      fs.readSync(descriptor, byte, 0, 1, 0)
    } catch {
      // The host has exited; `read` reports the end of input.
    }
    return byte[0]
  }
  return {
    poll() {
      const now = current()
      if (now === seen) return false
      seen = now
      return true
    },
    /** Drops an interrupt that arrived while the runner waited: it was for code that has ended. */
    discardPending() {
      seen = current()
    },
  }
}

function writeAll(descriptor, view) {
  let written = 0
  while (written < view.byteLength) {
    const count = retryWhileBlocked(() => fs.writeSync(descriptor, view, written, view.byteLength - written))
    if (count < 0) return count
    written += count
  }
  return written
}

/** The descriptors should be blocking pipes. If they are not, the function waits and tries again. */
function retryWhileBlocked(operation) {
  for (;;) {
    try {
      return operation()
    } catch (error) {
      if (error.code === 'EOF') return 0 // the end of a pipe on Windows
      if (error.code !== 'EAGAIN' && error.code !== 'EINTR') return -1
      Atomics.wait(waitBuffer, 0, 0, retryMs)
    }
  }
}

const decoders = new Map()

/** Returns null when the bytes are not valid in the encoding, or when the encoding is unknown. */
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
