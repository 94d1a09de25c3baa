/** A here-document: `<<END`, `<<-'END'`. Not `<<<`. */
const hereDocument = /(?<!<)<<-?\s*(['"]?)(\w+)\1(?!<)/g

/** Words that open and close a compound command, at the begin of a command. */
const opening: ReadonlySet<string> = new Set(['if', 'do', 'case', '{', '('])
const closing: ReadonlySet<string> = new Set(['fi', 'done', 'esac', '}', ')'])

/**
 * Whether the lines are a complete block. A block is incomplete inside of quotes, compound commands and here-documents,
 * after `\`, `|`, `&&` and `||`. Invalid code is complete: the runner reports the error.
 */
export function isCompleteBlock(lines: readonly string[]): boolean {
  const { code, isOpen } = withoutTexts(lines)
  if (isOpen || /(?:\\|\||&&)\s*$/.test(code)) return false
  const words = code
    .replaceAll(/\)\s*\{/g, ' { ')
    .replaceAll(/[;&|\n()]/g, ' $& ')
    .split(/[^\S\n]+/)
  let depth = 0
  let isCommand = true
  for (const word of words) {
    if (word === '') continue
    if (isCommand && opening.has(word) && word !== '(') depth += 1
    else if (isCommand && closing.has(word) && word !== ')') depth -= 1
    isCommand = /^[;&|\n()]$/.test(word) || (isCommand && /^(?:then|else|elif|do|if|while|until|!|\{)$/.test(word))
  }
  return depth <= 0
}

interface Code {
  /** The lines without comments, and with `"` in place of each quoted text and here-document. */
  readonly code: string
  /** A quote or a here-document has no end. */
  readonly isOpen: boolean
}

function withoutTexts(lines: readonly string[]): Code {
  let code = ''
  let quote: string | undefined
  const pending: string[] = []
  for (const line of lines) {
    const end = pending[0]
    if (end !== undefined && quote === undefined) {
      if (line.trim() === end) pending.shift()
      continue
    }
    const scanned = scanLine(line, quote)
    quote = scanned.quote
    code += `${scanned.code}\n`
    for (const [, , word = ''] of scanned.source.matchAll(hereDocument)) pending.push(word)
  }
  return { code: code.trimEnd(), isOpen: quote !== undefined || pending.length > 0 }
}

function scanLine(line: string, open: string | undefined) {
  let quote = open
  let code = ''
  let source = ''
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? ''
    if (quote !== undefined) {
      if (character === '\\' && quote === '"') at += 1
      else if (character === quote) quote = undefined
      source += character
      continue
    }
    if (character === '#' && /(?:^|[\s;|&(])$/.test(code)) break
    if (character === '\\' && at + 1 < line.length) {
      at += 1
      code += '"'
      continue
    }
    source += character
    if (character === '"' || character === "'") {
      quote = character
      code += '"'
    } else code += character
  }
  return { code, source, quote }
}
