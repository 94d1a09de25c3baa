import { type CodeCharacter, scanCode } from './scan.js'

/** The begin of a statement that is no expression, or that only looks like one. */
const statement =
  /^(?:async\s+function|break|case|catch|class|const|continue|debugger|declare|default|do|else|enum|export|finally|for|function|if|interface|let|namespace|return|switch|throw|try|type\s|var|while|with)\b|^import\b(?!\s*[(.])|^[{@;]/

/**
 * Makes a block that is one expression print its value, as Node's own prompt does. Returns other blocks unchanged.
 */
export function displayValueOf(block: string): string {
  const expression = block.trim().replace(/;$/, '')
  // The expression has its own lines, so that an error quotes it as typed.
  return isExpression(expression)
    ? `((value) => { if (value !== undefined) console.dir(value) })(\n${expression}\n)`
    : block
}

/** Whether a text is certainly one expression that sets nothing. */
function isExpression(text: string): boolean {
  if (text === '' || statement.test(text)) return false
  const { characters, depth, isOpen } = scanCode(text)
  if (isOpen || depth !== 0 || !characters.some((each) => each.text !== '\n')) return false
  return !characters.some((each, index) => each.depth <= 0 && endsExpression(each, index, characters))
}

/**
 * Whether the character outside of brackets separates two expressions, or sets a variable. `=` of `==`, `<=` and `=>`
 * does neither.
 */
function endsExpression({ text, depth }: CodeCharacter, index: number, all: readonly CodeCharacter[]): boolean {
  if (depth < 0) return true
  if (text === ',' || text === ';' || text === '\n') return true
  if (text !== '=') return false
  const before = `${all[index - 2]?.text ?? ''}${all[index - 1]?.text ?? ''}`
  const after = all[index + 1]?.text ?? ''
  if (after === '>' || after === '=') return false
  return !/(?:^|[^<>])[!<>]$|=$/.test(before)
}
