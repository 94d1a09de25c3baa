/*
 * Texts of files: how they are shown, and how they are edited. An edit changes no character outside its place. The
 * byte order mark and the line ends of a file stay, and the model sees neither: it sends LF, which becomes CRLF in a
 * file whose lines end with CRLF.
 */
import { takeStart } from '../../../common/text/text.js'
import { MemoryError } from '../memory-error.js'
import { placesOf } from './search.js'

const byteOrderMark = '\uFEFF'
/** Larger numbers would not fit into the six characters of a line number. */
const maxLines = 999_999
/** The index keeps the result of a write (index-file.ts), which bounds the snippet. */
const maxSnippetCharacters = 1_600
const maxShownText = 500
const maxShownLines = 20

/** The lines without their ends and without the byte order mark. The end of the last line begins no further line. */
function linesOf(text: string): readonly string[] {
  const lines = text.replace(byteOrderMark, (mark, at: number) => (at === 0 ? '' : mark)).split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
}

function numbered(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${String(first + index).padStart(6)}\t${line}`).join('\n')
}

/** @throws MemoryError arguments_invalid, file_too_large */
export function renderFile(path: string, text: string, range?: readonly number[]): string {
  const lines = linesOf(text)
  if (lines.length > maxLines) {
    throw new MemoryError('file_too_large', `File ${path} exceeds maximum line limit of 999,999 lines.`)
  }
  const [start, end] = rangeOf(lines.length, range)
  return `Here's the content of ${path} with line numbers:\n${numbered(lines.slice(start - 1, end), start)}`
}

function rangeOf(count: number, range: readonly number[] | undefined): readonly [number, number] {
  if (range === undefined) return [1, count]
  const [start = 1, end = -1] = range
  const last = end === -1 ? count : Math.min(end, count)
  if (start >= 1 && start <= Math.max(count, 1) && (end === -1 || end >= start)) return [start, last]
  const rule = `It should be two lines of the file: [1, ${count}], the second one not before the first, or -1.`
  throw new MemoryError('arguments_invalid', `Error: Invalid \`view_range\` parameter: [${range.join(', ')}]. ${rule}`)
}

interface Edited {
  readonly text: string
  readonly result: string
}

/** @throws MemoryError text_not_found, text_not_unique */
export function replaceText(path: string, text: string, oldText: string, newText: string): Edited {
  const newline = newlineOf(text)
  // The text as it is comes first: a file may have both kinds of line ends.
  const verbatim = placesOf(text, oldText, maxShownLines + 1)
  const searched = verbatim.length > 0 ? oldText : withNewline(oldText, newline)
  const places = searched === oldText ? verbatim : placesOf(text, searched, maxShownLines + 1)
  const shown = takeStart(oldText, maxShownText)
  const [place] = places
  if (place === undefined) {
    const message = `No replacement was performed, old_str \`${shown}\` did not appear verbatim in ${path}.`
    throw new MemoryError('text_not_found', message)
  }
  if (places.length > 1) {
    const found = `Multiple occurrences of old_str \`${shown}\` in lines: ${lineNumbers(text, places)}.`
    throw new MemoryError('text_not_unique', `No replacement was performed. ${found} Please ensure it is unique`)
  }
  const edited = text.slice(0, place) + withNewline(newText, newline) + text.slice(place + searched.length)
  const line = lineAt(text, place)
  const snippet = linesOf(edited).slice(Math.max(0, line - 3), line + 2 + newText.split('\n').length - 1)
  const shownSnippet = takeStart(numbered(snippet, Math.max(1, line - 2)), maxSnippetCharacters)
  const heading = 'The memory file has been edited. Here is the snippet showing the change (with line numbers):'
  return { text: edited, result: `${heading}\n${shownSnippet}` }
}

/** @param line number of the line after which the text is inserted. @throws MemoryError arguments_invalid */
export function insertText(path: string, text: string, line: number, inserted: string): Edited {
  const count = linesOf(text).length
  if (line < 0 || line > count) {
    const rule = `It should be within the range of lines of the file: [0, ${count}]`
    throw new MemoryError('arguments_invalid', `Error: Invalid \`insert_line\` parameter: ${line}. ${rule}`)
  }
  const newline = newlineOf(text)
  const added = withNewline(inserted.replace(/\r?\n$/, ''), newline)
  const place = placeAfterLine(text, line)
  const isAfterOpenLine = place === text.length && line > 0 && !text.endsWith('\n')
  const piece = isAfterOpenLine ? newline + added : added + newline
  return { text: text.slice(0, place) + piece + text.slice(place), result: `The file ${path} has been edited.` }
}

function placeAfterLine(text: string, line: number): number {
  let place = text.startsWith(byteOrderMark) ? byteOrderMark.length : 0
  for (let passed = 0; passed < line; passed++) {
    const end = text.indexOf('\n', place)
    if (end === -1) return text.length
    place = end + 1
  }
  return place
}

type Newline = '\n' | '\r\n'

/** The line end that most lines have. */
function newlineOf(text: string): Newline {
  const all = text.split('\n').length - 1
  const carriageReturns = text.split('\r\n').length - 1
  return carriageReturns * 2 > all ? '\r\n' : '\n'
}

/** In a file with CRLF, each LF becomes CRLF. In another file the text stays as it is. */
function withNewline(text: string, newline: Newline): string {
  return newline === '\n' ? text : text.replace(/\r?\n/g, newline)
}

function lineNumbers(text: string, places: readonly number[]): string {
  const shown = [...new Set(places.slice(0, maxShownLines).map((place) => lineAt(text, place)))]
  return shown.join(', ') + (places.length > maxShownLines ? ', …' : '')
}

/** Number of the line at a place, from 1. */
function lineAt(text: string, place: number): number {
  return text.slice(0, place).split('\n').length
}
