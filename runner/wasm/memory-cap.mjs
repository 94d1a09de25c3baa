const pageBytes = 65_536
const memorySection = 5

/**
 * The same WebAssembly module with a lower maximum of its memory. In the module itself and not in the code around it:
 * the engine enforces it, and nothing that runs inside can lift it. Past it, Python raises MemoryError.
 *
 * @param {Uint8Array} wasm a module that defines exactly one memory, with a maximum
 * @param {number} bytes rounded down to whole pages
 */
export function capMemory(wasm, bytes) {
  let at = 8 // magic and version
  while (at < wasm.length) {
    const section = wasm[at]
    const size = readNumber(wasm, at + 1)
    if (section === memorySection) return withMaximum(wasm, size.end, Math.floor(bytes / pageBytes))
    at = size.end + size.value
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

/** LEB128, as everywhere in WebAssembly. */
function readNumber(bytes, start) {
  let value = 0
  let shift = 0
  for (let at = start; ; at += 1, shift += 7) {
    value += (bytes[at] & 0x7f) * 2 ** shift
    if ((bytes[at] & 0x80) === 0) return { value, end: at + 1 }
  }
}

/** In exactly `length` bytes, padded: the sections behind must not move. */
function writeNumber(bytes, start, length, value) {
  for (let index = 0; index < length; index += 1) {
    const more = index < length - 1 ? 0x80 : 0
    bytes[start + index] = (Math.floor(value / 128 ** index) & 0x7f) | more
  }
}
