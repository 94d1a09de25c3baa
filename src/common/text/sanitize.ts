import { invisibleCharacters, showCodePoint } from './text.js'

/** Replacement of a tab. */
const tabSpaces = '  '
/** Marks stacked on one character beyond this can cover the lines around it. */
const maxCombiningMarks = 4

/**
 * Makes text of any origin safe to print: replaces control characters (of escape sequences, carriage returns,
 * backspaces), invisible characters and direction marks by visible ones. Line breaks stay.
 */
export function sanitize(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(/\t/g, tabSpaces)
    .replace(/[^\P{Cc}\n]/gu, controlPicture)
    .replace(invisibleCharacters, invisibleCharacter)
    .replace(/\p{Surrogate}/gu, '\uFFFD')
    .replace(new RegExp(`(\\p{M}{${maxCombiningMarks}})\\p{M}+`, 'gu'), '$1')
}

/** Sanitized text on one line. */
export function oneLine(text: string): string {
  // Trims line by line: a search for `\s*\n` takes quadratic time on a long run of spaces.
  const lines = text.split('\n').map((line) => line.trim())
  return sanitize(lines.filter((line) => line !== '').join(' '))
}

/** U+001B as `␛`; the C1 controls, which have no pictures, as code points. */
function controlPicture(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  return code === 0x7f ? '\u2421' : showCodePoint(character)
}

/** Bidi overrides change how text reads. Joiners within emoji stay. */
function invisibleCharacter(character: string, offset: number, text: string): string {
  const isJoiner =
    character === '\u200D' && /\p{Extended_Pictographic}\uFE0F?$/u.test(text.slice(Math.max(offset - 3, 0), offset))
  if (isJoiner && /^\p{Extended_Pictographic}/u.test(text.slice(offset + 1, offset + 3))) return character
  return showCodePoint(character)
}
