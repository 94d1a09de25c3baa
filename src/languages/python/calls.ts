import { consecutiveCalls } from '../shared/consecutive-calls.js'

/**
 * The names of the functions that a text calls in Python, if it consists of such calls: `await NAME(key=…)`,
 * `NAME({…})`, `[NAME(), NAME(key=…)]`. Empty for any other text.
 */
export function callsIn(text: string): readonly string[] {
  const isList = text.startsWith('[') && text.endsWith(']')
  const calls = isList ? text.slice(1, -1) : text
  return consecutiveCalls(calls, callBegin).map((name) => name.replace(/\.call$/, ''))
}

/** Up to the bracket, which arguments by name, an object or nothing must follow. */
const callBegin = /\s*(?:await\s+)?([A-Za-z_][\w.]{0,199})\((?=\s*(?:[A-Za-z_]\w*\s*=|\{|\)))/y
