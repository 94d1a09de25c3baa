import { type CodeCharacter, type ScannedCode, scanCode } from './scan.js'

/**
 * Whether the lines are a complete block. A block is incomplete inside of brackets, template literals and comments,
 * after an operator, and when its last statement lacks its body. Invalid code is complete: the runner reports the error.
 */
export function isCompleteBlock(lines: readonly string[]): boolean {
  const text = lines.join('\n')
  const scanned = scanCode(text)
  if (scanned.isOpen || scanned.depth > 0) return false
  // An empty line ends a block whose end can't be told.
  const isEnded = lines.length > 1 && lines.at(-1)?.trim() === ''
  if (isEnded || scanned.depth < 0 || scanned.characters.length === 0) return true
  const code = outerCode(scanned)
  return !(endsWithOperator(code) || lacksBody(code))
}

/**
 * The code outside of brackets, with one space for white space. A bracket and all in it is one of `()`, `[]` and `{}`, a
 * text is `"`.
 */
function outerCode({ characters }: ScannedCode): string {
  let code = ''
  let last: CodeCharacter | undefined
  for (const each of characters) {
    if (each.depth > 0) continue
    if (last && each.at > last.at + 1 && !')]}'.includes(each.text) && each.text !== '\n') code += ' '
    code += each.text
    last = each
  }
  return code.trim()
}

/** `x++` and `x--` are complete. */
function endsWithOperator(code: string): boolean {
  return /(?:[=*%&|^<>?:,.~]|[^+]\+|[^-]-|[^"/]\/)$/.test(code)
}

/** Whether the last statement needs a body, or another part, that is not there. */
function lacksBody(code: string): boolean {
  const line = code.slice(code.lastIndexOf('\n') + 1).trim()
  if (/(?:^|[^\w$.])(?:else|do|try|finally|return\s+await|await|new|typeof|extends)$/.test(line)) return true
  if (/^(?:\} ?)?(?:else )?(?:if|for|for await|while|with) ?\(\)$/.test(line)) return !/\bdo ?\{\} ?while/.test(line)
  if (/^(?:export )?(?:default )?(?:async )?function\b[^{]*$/.test(line)) return true
  if (/^(?:export )?(?:default )?class\b[^{]*$/.test(line)) return true
  return /^try ?\{\}$/.test(line)
}
