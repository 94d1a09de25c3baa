import { TextDecoder } from 'node:util'

/** Bytes in which the standard looks for the charset of an HTML page. */
const scannedBytes = 1_024

/**
 * Decodes a body as browsers do: a byte order mark comes before the charset of the header, and this before that of an
 * HTML page. An unknown charset is UTF-8. Bytes that are not of the charset become U+FFFD.
 *
 * @param label charset of the header
 */
export function decodeBody(body: Buffer, label: string | undefined, isHtml: boolean): string {
  const declared = isHtml ? charsetOfHtml(body) : undefined
  const decoder = [markOf(body), label, declared].map(decoderOf).find((each) => each !== undefined)
  return (decoder ?? new TextDecoder()).decode(body)
}

function markOf([first, second, third]: Buffer): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined
}

function charsetOfHtml(body: Buffer): string | undefined {
  const start = body.subarray(0, scannedBytes).toString('latin1')
  const label = /<meta\s[^>]*charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(start)?.[1]
  // The tag could be read, so the page is not UTF-16.
  return label?.toLowerCase().startsWith('utf-16') === true ? 'utf-8' : label
}

function decoderOf(label: string | undefined): TextDecoder | undefined {
  try {
    return label === undefined ? undefined : new TextDecoder(label)
  } catch {
    return undefined
  }
}
