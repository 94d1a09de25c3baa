import type { JsonValue } from '../json/json.js'

/**
 * Returns the marker that replaces omitted characters. The runner writes the same marker
 * (`ptc_runner/program/output.py`).
 */
export function omissionMarker(characters: number): string {
  return `\n[... ${characters} characters cut ...]\n`
}

/** Matches {@link omissionMarker}; group 1 is the count. */
export const omissionMarkers = /\n\[\.\.\. (\d+) characters cut \.\.\.\]\n/g

/**
 * Returns the position at which a text may be cut: `index`, or the unit before it if a cut would split a surrogate
 * pair. A lone surrogate makes a text ill-formed, and model APIs refuse it.
 */
export function cutIndex(text: string, index: number): number {
  const splits = isHighSurrogate(text.charCodeAt(index - 1)) && isLowSurrogate(text.charCodeAt(index))
  return splits ? index - 1 : index
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** Returns at most the first `count` UTF-16 units of a text, cut between characters. */
export function takeStart(text: string, count: number): string {
  return text.length <= count ? text : text.slice(0, cutIndex(text, Math.max(count, 0)))
}

/** Returns at most the last `count` UTF-16 units of a text, cut between characters. */
export function takeEnd(text: string, count: number): string {
  if (text.length <= count) return text
  const start = text.length - Math.max(count, 0)
  return text.slice(cutIndex(text, start) === start ? start : start + 1)
}

/** Replaces the middle of a text over the limit by a marker with the number of omitted characters. */
export function truncateMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text
  const head = takeStart(text, Math.ceil(limit / 2))
  const tail = takeEnd(text, Math.floor(limit / 2))
  return head + omissionMarker(text.length - head.length - tail.length) + tail
}

/** Returns a string unchanged, and any other value as JSON. */
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

/** Returns the first `characters` characters (code points) of a longer text, and an ellipsis. */
export function truncateEnd(text: string, characters: number): string {
  if (text.length <= characters) return text
  // A character has one or two units.
  const start = Array.from(takeStart(text, 2 * characters))
    .slice(0, Math.max(characters, 0))
    .join('')
  return start === text ? text : `${start}…`
}

export function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length
}

/** Temporal refuses a summary over 400 bytes (as JSON), and with it the whole workflow task. */
const maxSummaryBytes = 380

/** Returns a one-line summary within Temporal's size limit, without terminal control characters and Markdown links. */
export function toTemporalSummary(text: string): string {
  let fitting = Array.from(takeStart(toPlainLine(text.slice(0, 10 * maxSummaryBytes)), maxSummaryBytes))
  while (utf8Length(JSON.stringify(fitting.join(''))) > maxSummaryBytes)
    fitting = fitting.slice(0, Math.floor(fitting.length * 0.9))
  return fitting.join('')
}

/**
 * Returns one line without control characters, format characters (text direction), lone surrogates and Markdown links.
 */
export function toPlainLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Surrogate}]/gu, '')
    .replaceAll('](', '] (')
    .trim()
}

/** Returns a code span of Markdown. In it, nothing is interpreted: no link, no HTML, no emphasis. */
export function toMarkdownCode(text: string): string {
  const line = toPlainLine(text).replaceAll('`', "'")
  return line === '' ? '(empty)' : `\`${line}\``
}

const maxSummaryCharacters = 200

/** Returns the text in one line of at most 200 characters. */
export function toOneLine(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ')
  return line.length <= maxSummaryCharacters ? line : `${takeStart(line, maxSummaryCharacters - 1).trimEnd()}…`
}

/** Returns the code point of an invisible character, or of a character that may not be in a line: `<U+202E>`. */
export function showCodePoint(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`
}

/**
 * Characters that a person does not see, or that change the direction of a text. Not the variation selector of an emoji.
 * For `replace` only: it is a global expression.
 */
export const invisibleCharacters =
  /[\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800](?<!\p{Extended_Pictographic}\uFE0F)(?<![#*\d]\uFE0F(?=\u20E3))/gu
