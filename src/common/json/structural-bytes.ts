const quote = 0x22
const backslash = 0x5c

/**
 * Counts the bytes of JSON text outside of strings, in one pass and constant memory. These bytes make parsing
 * expensive: a parser creates an object for every two or three of them, while it only copies the bytes of strings.
 *
 * @returns the bytes, and the `problem` of a text with more than `limit.bytes`, or deeper than `limit.depth`
 */
export function countStructuralBytes(
  json: Uint8Array,
  limit: { readonly bytes: number; readonly depth: number },
): { readonly bytes: number; readonly problem?: string } {
  let bytes = 0
  let depth = 0
  for (let at = 0; at < json.length; at += 1) {
    switch (json[at]) {
      case quote:
        at = endOfString(json, at)
        bytes += 1
        break
      case 0x5b: // [
      case 0x7b: // {
        depth += 1
        if (depth > limit.depth) return { bytes, problem: `is nested more than ${limit.depth} levels deep` }
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1
        break
      default:
    }
    bytes += 1
    if (bytes > limit.bytes) return { bytes, problem: `has more than ${limit.bytes} bytes outside of strings` }
  }
  return { bytes }
}

/** Returns the index of the closing quote, or the end of the text. */
function endOfString(json: Uint8Array, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1
  return at
}
