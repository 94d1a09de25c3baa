/** Tab stops of code and output. */
const tab = '  '
/** Marks stacked on one character beyond this can cover the lines around it. */
const marksPerCharacter = 4

/**
 * Text of any origin as text that is safe to print: what would drive the terminal (escape sequences, carriage returns,
 * backspaces) or turn the direction of writing is shown instead of sent. Line breaks stay.
 */
export function neutralise(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(/\t/g, tab)
    .replace(/[^\P{Cc}\n]/gu, controlPicture)
    .replace(/[\p{Zl}\p{Zp}]|\p{Cf}/gu, formatCharacter)
    .replace(/\p{Surrogate}/gu, '\uFFFD')
    .replace(new RegExp(`(\\p{M}{${marksPerCharacter}})\\p{M}+`, 'gu'), '$1')
}

/** On one line, whatever it was. */
export function oneLine(text: string): string {
  // Line by line: a search for `\s*\n` takes quadratic time on a long run of spaces.
  const lines = text.split('\n').map((line) => line.trim())
  return neutralise(lines.filter((line) => line !== '').join(' '))
}

/** U+001B as `␛`; the C1 controls, which have no pictures, as what they are. */
function controlPicture(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  return code === 0x7f ? '\u2421' : codePoint(code)
}

/** Invisible, and some of them (bidi overrides) change what the text around them seems to say. Joiners hold emoji together. */
function formatCharacter(character: string, offset: number, text: string): string {
  const joins =
    character === '\u200D' && /\p{Extended_Pictographic}\uFE0F?$/u.test(text.slice(Math.max(offset - 3, 0), offset))
  if (joins && /^\p{Extended_Pictographic}/u.test(text.slice(offset + 1, offset + 3))) return character
  return codePoint(character.codePointAt(0) ?? 0)
}

function codePoint(code: number): string {
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
}
