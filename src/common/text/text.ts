import type { JsonValue } from '../json/json.js'

/** Stands in place of omitted characters. The runner writes the same marker (`ptc_runner/program/output.py`). */
export function omissionMarker(characters: number): string {
  return `\n[... ${characters} characters cut ...]\n`
}

/** Matches {@link omissionMarker}; group 1 is the count. */
export const omissionMarkers = /\n\[\.\.\. (\d+) characters cut \.\.\.\]\n/g

/** Replaces the middle of a text over the limit by a marker with the number of omitted characters. */
export function truncateMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text
  const head = Math.ceil(limit / 2)
  const tail = limit - head
  return text.slice(0, head) + omissionMarker(text.length - limit) + text.slice(text.length - tail)
}

/** A string unchanged, any other value as JSON. */
export function jsonToText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** 950 -> "950", 1234 -> "1.2k", 4_100_000 -> "4.1M". */
export function formatCompactNumber(value: number): string {
  if (value < 1_000) return String(value)
  if (value < 999_950) return `${(value / 1_000).toFixed(1)}k`
  return `${(value / 1_000_000).toFixed(1)}M`
}

/** 1 -> "1 call", 2 -> "2 calls". */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** The first `characters` characters of a longer text, and an ellipsis. Never splits a character. */
export function truncateEnd(text: string, characters: number): string {
  return text.length <= characters
    ? text
    : `${Array.from(text.slice(0, 2 * characters))
        .slice(0, characters)
        .join('')}…`
}

/** Bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length
}

/** Temporal refuses a summary over 400 bytes (as JSON), and with it the whole workflow task. */
const maxSummaryBytes = 380

/** A one-line summary within Temporal's size limit, without terminal control characters and Markdown links. */
export function toTemporalSummary(text: string): string {
  let fitting = Array.from(toPlainLine(text.slice(0, 10 * maxSummaryBytes)).slice(0, maxSummaryBytes))
  while (utf8Length(JSON.stringify(fitting.join(''))) > maxSummaryBytes)
    fitting = fitting.slice(0, Math.floor(fitting.length * 0.9))
  return fitting.join('')
}

/** One line without control characters, format characters (text direction), lone surrogates and Markdown links. */
export function toPlainLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Surrogate}]/gu, '')
    .replaceAll('](', '] (')
    .trim()
}

/** A code span of Markdown, in which nothing is interpreted: no link, no HTML, no emphasis. */
export function toMarkdownCode(text: string): string {
  const line = toPlainLine(text).replaceAll('`', "'")
  return line === '' ? '(empty)' : `\`${line}\``
}

const maxSummaryCharacters = 200

/** The text in one line, at most 200 characters. */
export function toOneLine(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ')
  return line.length <= maxSummaryCharacters ? line : `${line.slice(0, maxSummaryCharacters - 1).trimEnd()}…`
}
