/** What is between two calls. */
export const separators = /[\s,;]*/y

/** The match of a sticky expression at a position. */
export function matchAt(expression: RegExp, text: string, position: number): RegExpExecArray | undefined {
  expression.lastIndex = position
  return expression.exec(text) ?? undefined
}

/**
 * Whether nothing of a text is outside of brackets, but for what separates them. True for a text that ends with a
 * bracket when the quotes in it can't be paired.
 */
export function isWithinBrackets(text: string): boolean {
  if (!/[}\]]/.test(text.slice(-1))) return false
  let position = 0
  while (position < text.length) {
    if (!'{['.includes(text.charAt(position))) return false
    const end = closingBracket(text, position)
    if (end === undefined) return true
    position = end + 1 + (matchAt(separators, text, end + 1)?.[0].length ?? 0)
  }
  return true
}

/** The position of the bracket that closes the one at `start`. Quoted texts may have any in them. */
export function closingBracket(text: string, start: number): number | undefined {
  let depth = 0
  let quotes = ''
  for (let position = start; position < text.length; position += 1) {
    const character = text.charAt(position)
    if (quotes !== '') {
      if (character === '\\') position += 1
      else if (text.startsWith(quotes, position)) {
        position += quotes.length - 1
        quotes = ''
      }
    } else if (character === '"' || character === "'") {
      const triple = character.repeat(3)
      quotes = text.startsWith(triple, position) ? triple : character
      position += quotes.length - 1
    } else if ('([{'.includes(character)) depth += 1
    else if (')]}'.includes(character)) {
      depth -= 1
      if (depth === 0) return position
    }
  }
  return undefined
}
