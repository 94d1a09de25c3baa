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
  const text = encoding === undefined ? decodeUtf8(bytes) : undefined
  if (text !== undefined) return text
  const problem = encoding === undefined ? describeFault(bytes) : `is ${encoding}, not UTF-8`
  // With null bytes it is not Latin-1, as which each file can be converted.
  const source = encoding ?? (bytes.includes(0) ? 'UTF-16' : 'LATIN1')
  throw new PtcError(code, `${name} ${problem}`, {
    hint: `Save it as UTF-8, such as with \`iconv -f ${source} -t UTF-8\`, or Set-Content -Encoding utf8 in PowerShell.`,
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
    // The decoder removes one mark; programs that each write one leave several.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/^\uFEFF+/, '')
  } catch {
    return undefined
  }
}

function describeFault(bytes: Uint8Array): string {
  const zero = bytes.indexOf(0)
  if (zero >= 0) return `looks like UTF-16 or a binary file, not UTF-8: line ${lineOf(bytes, zero)} has a null byte`
  let line = 1
  for (let start = 0; start <= bytes.length; line += 1) {
    const end = bytes.indexOf(0x0a, start)
    if (decodeUtf8(bytes.subarray(start, end < 0 ? bytes.length : end)) === undefined || end < 0) break
    start = end + 1
  }
  return `is not UTF-8: line ${line} has other bytes`
}

function lineOf(bytes: Uint8Array, index: number): number {
  return bytes.subarray(0, index).filter((byte) => byte === 0x0a).length + 1
}
