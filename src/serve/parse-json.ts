import { messageOf, PtcError } from '../common/errors.js'

/** More than a request has. The values of 31 MiB of `[]` would take gigabytes, and seconds of each walk. */
export const maxJsonValues = 250_000

/** More than a schema or an argument has, and less than what reading them recursively takes. */
const maxJsonDepth = 500

/**
 * The value of a JSON text. Its number of values and its depth are checked before it is parsed.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function parseJson(text: string): unknown {
  checkSize(text)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new PtcError('RUN_INPUT_INVALID', `the body is not JSON: ${messageOf(cause)}`, { cause })
  }
}

const [quote, backslash, comma, openBracket, closeBracket, openBrace, closeBrace] = [34, 92, 44, 91, 93, 123, 125]

/** Each value but the first of a list or an object follows a comma, and each list and object has a bracket. */
function checkSize(text: string): void {
  let values = 1
  let depth = 0
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index)
    if (character === quote) index = endOfString(text, index)
    else if (character === comma) values += 1
    else if (character === openBracket || character === openBrace) {
      values += 1
      depth += 1
    } else if (character === closeBracket || character === closeBrace) depth -= 1
    if (depth > maxJsonDepth)
      throw new PtcError('RUN_INPUT_INVALID', `the body is nested deeper than ${maxJsonDepth} levels`)
    if (values > maxJsonValues)
      throw new PtcError('RUN_INPUT_INVALID', `the body has more than ${maxJsonValues} values`)
  }
}

/** The position of the closing quote; the end of the text when there is none. */
function endOfString(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charCodeAt(end - backslashes - 1) === backslash) backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return text.length
}
