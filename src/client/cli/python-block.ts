/**
 * Is what was typed so far a whole block? Nothing ends inside brackets, in a triple-quoted string, or after a backslash; what
 * has a line that ends with a colon (or begins with a decorator) ends with an empty line. What is no Python is whole: the
 * interpreter says what is wrong with it.
 */
export function isWholeBlock(lines: readonly string[]): boolean {
  const text = lines.join('\n')
  let depth = 0
  let isCompound = text.trimStart().startsWith('@')
  /** The last character of the line that says something. */
  let last = ''
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? ''
    if (character === '"' || character === "'") {
      const end = stringEnd(text, at)
      if (end === undefined) return false
      at = end
      last = character
    } else if (character === '#') {
      at = lineEnd(text, at) - 1
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

/** Can this line only be more of a block that an empty line has seemed to end? Nothing else begins with a space. */
export function continuesBlock(line: string): boolean {
  return /^\s+\S/.test(line) || /^(?:else|elif|except|finally)\b/.test(line)
}

/** The last character of the string that begins here; undefined when it goes on. Prefixes (`r`, `f`) make no difference. */
function stringEnd(text: string, start: number): number | undefined {
  const mark = text[start] ?? ''
  const quote = text.startsWith(mark.repeat(3), start) ? mark.repeat(3) : mark
  for (let at = start + quote.length; at < text.length; at += 1) {
    if (text[at] === '\\') {
      if (at === text.length - 1) return undefined
      at += 1
    } else if (text.startsWith(quote, at)) {
      return at + quote.length - 1
    } else if (quote.length === 1 && text[at] === '\n') {
      return at - 1 // never closed: the interpreter's business
    }
  }
  return quote.length === 1 ? text.length - 1 : undefined
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end < 0 ? text.length : end
}
