import { findLineEnd, findStringEnd } from './block.js'

/** `match` and `type` can begin statements too, but such statements have a colon or an assignment. */
const statement =
  /^(?:assert|async|break|class|continue|def|del|for|from|global|if|import|nonlocal|pass|raise|return|try|while|with|yield)\b|^[@*]/

/**
 * Makes a block that is one expression print its value, as Python's own prompt does. Returns other blocks unchanged.
 */
export function displayValueOf(block: string): string {
  // The expression has its own lines, so that an error quotes it as typed.
  return isExpression(block) ? `(lambda value: value is None or print(repr(value)))(\n${block}\n)` : block
}

/**
 * Whether a block is certainly one expression. Assignments, annotations and several statements are not; neither is a
 * `lambda` outside of brackets, which looks like an annotation.
 */
function isExpression(block: string): boolean {
  const text = block.trim()
  if (text === '' || statement.test(text) || /^\s/.test(block)) return false
  let depth = 0
  let hasCode = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? ''
    if (character === '#') {
      at = findLineEnd(text, at) - 1
      continue
    }
    if (character === '"' || character === "'") at = findStringEnd(text, at) ?? text.length
    else if ('([{'.includes(character)) depth += 1
    else if (')]}'.includes(character)) depth -= 1
    else if (depth === 0 && (';:\n\\'.includes(character) || isAssignment(text, at))) return false
    if (depth < 0) return false
    hasCode ||= character.trim() !== ''
  }
  return hasCode && depth === 0
}

/**
 * Whether the character is a single `=`: not part of `==`, `!=`, `<=`, `>=`. `x <<= 1` and `x >>= 1` are assignments.
 */
function isAssignment(text: string, at: number): boolean {
  if (text[at] !== '=' || text[at + 1] === '=' || text[at - 1] === '=') return false
  return !/(?:^|[^<>])[!<>]$/.test(text.slice(0, at))
}
