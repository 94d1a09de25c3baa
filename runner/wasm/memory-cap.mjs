const pageBytes = 65_536
const memorySection = 5

/**
 * Returns the WebAssembly module with a lower maximum of its memory. The engine enforces a maximum that is in the
 * module itself, and no code inside can raise it. At the maximum, Python raises MemoryError.
 *
 * @param {Uint8Array} wasm a module that defines exactly one memory, with a maximum
 * @param {number} bytes rounded down to whole pages
 */
export function capMemory(wasm, bytes) {
  let offset = 8 // magic and version
  while (offset < wasm.length) {
    const section = wasm[offset]
    const size = readNumber(wasm, offset + 1)
    if (section === memorySection) return withMaximum(wasm, size.end, Math.floor(bytes / pageBytes))
    offset = size.end + size.value
  }
  throw new Error('the WebAssembly module defines no memory')
}

function withMaximum(wasm, start, pages) {
  const count = readNumber(wasm, start)
  const hasMaximum = (wasm[count.end] & 1) === 1
  if (count.value !== 1 || !hasMaximum)
    throw new Error('the WebAssembly module should define one memory with a maximum')
  const minimum = readNumber(wasm, count.end + 1)
  const maximum = readNumber(wasm, minimum.end)
  if (pages < minimum.value) {
    throw new Error(`Python does not start in ${pages * pageBytes} bytes: it needs ${minimum.value * pageBytes}`)
  }
  const capped = Uint8Array.from(wasm)
  writeNumber(capped, minimum.end, maximum.end - minimum.end, Math.min(pages, maximum.value))
  return capped
}

/** Reads an integer in LEB128, the encoding of WebAssembly. */
function readNumber(bytes, start) {
  let value = 0
  let shift = 0
  for (let at = start; ; at += 1, shift += 7) {
    value += (bytes[at] & 0x7f) * 2 ** shift
    if ((bytes[at] & 0x80) === 0) return { value, end: at + 1 }
  }
}

/** Writes LEB128 padded to exactly `length` bytes, so that the following sections do not move. */
function writeNumber(bytes, start, length, value) {
  for (let index = 0; index < length; index += 1) {
    const more = index < length - 1 ? 0x80 : 0
    bytes[start + index] = (Math.floor(value / 128 ** index) & 0x7f) | more
  }
}
