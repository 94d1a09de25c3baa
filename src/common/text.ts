import type { JsonValue } from './json.js'

/** Cuts the middle out of a text that is over the limit, and says how much is missing. Head and tail say the most. */
export function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text
  const head = Math.ceil(limit / 2)
  const tail = limit - head
  return `${text.slice(0, head)}\n[... ${text.length - limit} characters cut ...]\n${text.slice(text.length - tail)}`
}

/** A text as it is, any other value as JSON: as its reader gets it. */
export function textOfJson(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** 950 -> "950", 1234 -> "1.2k", 4_100_000 -> "4.1M". */
export function shortNumber(value: number): string {
  if (value < 1_000) return String(value)
  if (value < 999_950) return `${(value / 1_000).toFixed(1)}k`
  return `${(value / 1_000_000).toFixed(1)}M`
}

/** 1 -> "1 call", 2 -> "2 calls". */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** The beginning of a text, in whole characters. */
export function beginning(text: string, characters: number): string {
  return text.length <= characters ? text : `${Array.from(text).slice(0, characters).join('')}…`
}

/** Bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length
}

/** Temporal refuses summaries over 400 bytes (as JSON), and with one the whole workflow task. */
const summaryBytes = 380

/** A one-line summary that Temporal takes, and that neither drives a terminal nor makes a link in its UI, whatever is in the text. */
export function fitSummary(text: string): string {
  let fitting = Array.from(plainLine(text.slice(0, 10 * summaryBytes)).slice(0, summaryBytes))
  while (utf8Length(JSON.stringify(fitting.join(''))) > summaryBytes)
    fitting = fitting.slice(0, Math.floor(fitting.length * 0.9))
  return fitting.join('')
}

/** One line without control characters, formatting characters (text direction!), half characters and Markdown links. */
export function plainLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Surrogate}]/gu, '')
    .replaceAll('](', '] (')
    .trim()
}

const summaryLength = 200

/** The text in one line, at most 200 characters. */
export function summaryOf(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ')
  return line.length <= summaryLength ? line : `${line.slice(0, summaryLength - 1).trimEnd()}…`
}
