import { closingBracket, matchAt, separators } from '../../common/text/brackets.js'

/**
 * The names of the functions that a text calls in JavaScript, if it consists of such calls: `await NAME({…});`,
 * `await Promise.all([NAME({…}), NAME()])`. Empty for any other text.
 */
export function callsIn(text: string): readonly string[] {
  const calls = listed.exec(text)?.[1] ?? text
  const names: string[] = []
  let position = 0
  while (position < calls.length) {
    const begin = matchAt(callBegin, calls, position)
    const name = begin?.[1]
    if (begin === undefined || name === undefined) return []
    const end = closingBracket(calls, position + begin[0].length - 1)
    if (end === undefined) return []
    names.push(name)
    position = end + 1 + (matchAt(separators, calls, end + 1)?.[0].length ?? 0)
  }
  return names
}

/** Calls at once, with the calls in group 1. */
const listed = /^(?:await\s+)?Promise\.all(?:Settled)?\(\s*\[([^]*)\]\s*\);?$/

/** Up to the bracket, which an object or nothing must follow. */
const callBegin = /\s*(?:await\s+)?([A-Za-z_$][\w$.]{0,199})\((?=\s*(?:\{|\)))/y
