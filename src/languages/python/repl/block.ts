/**
 * Whether the lines are a complete block. A block is incomplete inside brackets, in a triple-quoted string, and after a
 * backslash. A block with a line that ends with a colon, or with a decorator, ends with an empty line. Invalid Python
 * is complete: the interpreter reports the error.
 */
export function isCompleteBlock(lines: readonly string[]): boolean {
  const text = lines.join('\n')
  let depth = 0
  let isCompound = text.trimStart().startsWith('@')
  /** The last character of the line that is neither a space nor part of a comment. */
  let last = ''
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? ''
    if (character === '"' || character === "'") {
      const end = findStringEnd(text, at)
      if (end === undefined) return false
      at = end
      last = character
    } else if (character === '#') {
      at = findLineEnd(text, at) - 1
    } else if (character === '\\' && at === text.length - 1) {
      return false
    } else if (character === '\n') {
      isCompound ||= depth === 0 && last === ':'
      last = ''
    } else if (character.trim() !== '') {
      if ('([{'.includes(character)) depth += 1
      if (')]}'.includes(character)) depth = Math.max(0, depth - 1)
      last = character
    }
  }
  if (depth > 0 || last === ':') return false
  return !isCompound || lines.at(-1)?.trim() === ''
}

/**
 * Whether this line can only continue a block, even after an empty line: it is indented, or is `else` or a similar
 * keyword.
 */
export function continuesBlock(line: string): boolean {
  return /^\s+\S/.test(line) || /^(?:else|elif|except|finally)\b/.test(line)
}

/**
 * Index of the last character of the string literal that starts here; undefined when the literal does not end. Prefixes
 * do not matter.
 */
export function findStringEnd(text: string, start: number): number | undefined {
  const mark = text[start] ?? ''
  const quote = text.startsWith(mark.repeat(3), start) ? mark.repeat(3) : mark
  for (let at = start + quote.length; at < text.length; at += 1) {
    if (text[at] === '\\') {
      if (at === text.length - 1) return undefined
      at += 1
    } else if (text.startsWith(quote, at)) {
      return at + quote.length - 1
    } else if (quote.length === 1 && text[at] === '\n') {
      return at - 1 // unterminated: the interpreter reports it
    }
  }
  return quote.length === 1 ? text.length - 1 : undefined
}

/** Index of the line break after this position, or the length of the text. */
export function findLineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end < 0 ? text.length : end
}
