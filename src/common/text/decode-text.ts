import { PtcError, type ErrorCode } from '../errors.js'

/**
 * Decodes a text file of a user, and removes a byte order mark.
 *
 * @param name name of the file, for the error
 * @throws PtcError `code` when the bytes are not UTF-8: an editor or shell of Windows may have written UTF-16 or
 * Latin-1
 */
export function decodeText(bytes: Uint8Array, name: string, code: ErrorCode): string {
  const encoding = detectOtherEncoding(bytes)
  const problem = encoding === undefined ? undefined : `is ${encoding}, not UTF-8`
  const text = problem === undefined ? decodeUtf8(bytes) : undefined
  if (text !== undefined) return text
  throw new PtcError(code, `${name} ${problem ?? `is not UTF-8: ${describeFirstFault(bytes)}`}`, {
    hint: `Save it as UTF-8, such as with \`iconv -f ${encoding ?? 'LATIN1'} -t UTF-8\`, or Set-Content -Encoding utf8 in PowerShell.`,
  })
}

function detectOtherEncoding(bytes: Uint8Array): string | undefined {
  const [first, second, third, fourth] = bytes
  if (first === 0xff && second === 0xfe) return third === 0 && fourth === 0 ? 'UTF-32' : 'UTF-16'
  if (first === 0xfe && second === 0xff) return 'UTF-16'
  if (first === 0 && second === 0 && third === 0xfe && fourth === 0xff) return 'UTF-32'
  // Detects UTF-16 without a mark: the first character of a word or of JSON is ASCII.
  if (bytes.length % 2 === 0 && (first === 0) !== (second === 0) && (third === 0) === (first === 0)) return 'UTF-16'
  return undefined
}

/**
 * Returns undefined for other bytes. Null characters show that a file is UTF-16 or binary: texts of people have none.
 */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function describeFirstFault(bytes: Uint8Array): string {
  let line = 1
  for (let start = 0; start <= bytes.length; line += 1) {
    const end = bytes.indexOf(0x0a, start)
    const part = bytes.subarray(start, end < 0 ? bytes.length : end)
    if (part.includes(0)) return `line ${line} has a null byte`
    if (decodeUtf8(part) === undefined) break
    if (end < 0) break
    start = end + 1
  }
  return `line ${line} has other bytes`
}
