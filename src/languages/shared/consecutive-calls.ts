import { closingBracket, matchAt, separators } from '../../common/text/brackets.js'

/**
 * The names of the functions that a text calls, if it consists of calls, with or without separators. Empty for any
 * other text.
 * @param begin matches a call up to its bracket, with the name in group 1. Must be sticky.
 */
export function consecutiveCalls(text: string, begin: RegExp): readonly string[] {
  const names: string[] = []
  let position = 0
  while (position < text.length) {
    const match = matchAt(begin, text, position)
    const name = match?.[1]
    if (match === undefined || name === undefined) return []
    const end = closingBracket(text, position + match[0].length - 1)
    if (end === undefined) return []
    names.push(name)
    position = end + 1 + (matchAt(separators, text, end + 1)?.[0].length ?? 0)
  }
  return names
}
