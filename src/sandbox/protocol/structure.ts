import { PtcError } from '../../common/errors.js'

/** An honest runner can't send more: Python's own encoder stops at a depth of about 1,000. */
const maximumDepth = 5_000

const quote = 0x22
const backslash = 0x5c

/**
 * Counts the bytes of JSON text that are not inside strings, in one pass that keeps nothing. They are what makes parsing
 * expensive: a parser makes an object of every two or three of them, while the bytes of strings are only copied.
 *
 * @throws PtcError SANDBOX_PROTOCOL when there are more than `limit`, or values are nested too deeply
 */
export function measureStructure(json: Uint8Array, limit: number): number {
  let structure = 0
  let depth = 0
  for (let at = 0; at < json.length; at += 1) {
    switch (json[at]) {
      case quote:
        at = endOfString(json, at)
        structure += 1
        break
      case 0x5b: // [
      case 0x7b: // {
        depth += 1
        if (depth > maximumDepth) throw tooMuch(`is nested more than ${maximumDepth} levels deep`)
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1
        break
      default:
    }
    structure += 1
    if (structure > limit) throw tooMuch(`has more than ${limit} bytes outside of strings`)
  }
  return structure
}

/** The place of the closing quote, or the end of the text. */
function endOfString(json: Uint8Array, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1
  return at
}

function tooMuch(what: string): PtcError {
  return new PtcError('SANDBOX_PROTOCOL', `the sandbox sent a frame that ${what}`)
}
