import { consecutiveCalls } from '../shared/consecutive-calls.js'

/**
 * The names of the functions that a text calls in JavaScript, if it consists of such calls: `await NAME({…});`,
 * `await Promise.all([NAME({…}), NAME()])`. Empty for any other text.
 */
export function callsIn(text: string): readonly string[] {
  const calls = listed.exec(text)?.[1] ?? text
  return consecutiveCalls(calls, callBegin)
}

/** Calls at once, with the calls in group 1. */
const listed = /^(?:await\s+)?Promise\.all(?:Settled)?\(\s*\[([^]*)\]\s*\);?$/

/** Up to the bracket, which an object or nothing must follow. */
const callBegin = /\s*(?:await\s+)?([A-Za-z_$][\w$.]{0,199})\((?=\s*(?:\{|\)))/y
