import { closingBracket, matchAt, separators } from '../../common/text/brackets.js'

/**
 * The names of the functions that a text calls in Python, if it consists of such calls: `await NAME(key=…)`,
 * `NAME({…})`, `[NAME(), NAME(key=…)]`. Empty for any other text.
 */
export function callsIn(text: string): readonly string[] {
  const isList = text.startsWith('[') && text.endsWith(']')
  const calls = isList ? text.slice(1, -1) : text
  const names: string[] = []
  let position = 0
  while (position < calls.length) {
    const begin = matchAt(callBegin, calls, position)
    const name = begin?.[1]
    if (begin === undefined || name === undefined) return []
    const end = closingBracket(calls, position + begin[0].length - 1)
    if (end === undefined) return []
    names.push(name.replace(/\.call$/, ''))
    position = end + 1 + (matchAt(separators, calls, end + 1)?.[0].length ?? 0)
  }
  return names
}

/** Up to the bracket, which arguments by name, an object or nothing must follow. */
const callBegin = /\s*(?:await\s+)?([A-Za-z_][\w.]{0,199})\((?=\s*(?:[A-Za-z_]\w*\s*=|\{|\)))/y
