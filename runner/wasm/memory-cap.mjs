const pageBytes = 65_536
const memorySection = 5
const hasMaximum = 1 // a flag of a memory

/**
 * Returns the WebAssembly module with a maximum of its memory, or with a lower one. The engine enforces a maximum that
 * is in the module itself, and no code inside can raise it. At the maximum, an allocation of the program fails.
 *
 * @param {Uint8Array} wasm a module that defines exactly one memory
 * @param {number} bytes rounded down to whole pages
 */
export function capMemory(wasm, bytes) {
  let offset = 8 // magic and version
  while (offset < wasm.length) {
    const size = readNumber(wasm, offset + 1)
    const end = size.end + size.value
    if (wasm[offset] === memorySection) {
      const section = withMaximum(wasm, size.end, Math.floor(bytes / pageBytes))
      const capped = [
        wasm.subarray(0, offset),
        [memorySection, ...toNumber(section.length)],
        section,
        wasm.subarray(end),
      ]
      return concatenate(capped)
    }
    offset = end
  }
  throw new Error('the WebAssembly module defines no memory')
}

/** Returns the content of the memory section. */
function withMaximum(wasm, start, pages) {
  const count = readNumber(wasm, start)
  const flags = wasm[count.end]
  if (count.value !== 1 || flags > hasMaximum) throw new Error('the WebAssembly module should define one plain memory')
  const minimum = readNumber(wasm, count.end + 1)
  const maximum = flags === hasMaximum ? readNumber(wasm, minimum.end).value : pages
  if (pages < minimum.value) {
    throw new Error(
      `the interpreter does not start in ${pages * pageBytes} bytes: it needs ${minimum.value * pageBytes}`,
    )
  }
  return [1, hasMaximum, ...toNumber(minimum.value), ...toNumber(Math.min(pages, maximum))]
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

/** Returns an integer in LEB128. */
function toNumber(value) {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...toNumber(Math.floor(value / 128))]
}

function concatenate(parts) {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const part of parts) {
    joined.set(part, offset)
    offset += part.length
  }
  return joined
}
