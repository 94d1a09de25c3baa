/** A character of code: not of a text, a regular expression or a comment, which count as one character `"`. */
export interface CodeCharacter {
  readonly text: string
  readonly at: number
  /** The number of brackets around the character. A bracket is outside of itself. */
  readonly depth: number
}

export interface ScannedCode {
  readonly characters: readonly CodeCharacter[]
  /** The number of brackets that are not closed; below 0 after a closing bracket without its opening one. */
  readonly depth: number
  /** A template literal, a comment, or a text that continues on the next line does not end. */
  readonly isOpen: boolean
}

/**
 * Reads the characters of code, in linear time. A regular expression is told from a division by what is before it, which
 * is not always right: after `)` it is a division.
 */
export function scanCode(text: string): ScannedCode {
  const characters: CodeCharacter[] = []
  /** For each open `${` of a template literal, the number of brackets around it. */
  const templates: number[] = []
  let depth = 0
  let isOpen = false
  const add = (character: string, at: number): void => void characters.push({ text: character, at, depth })

  for (let at = 0; at < text.length && !isOpen; at += 1) {
    const character = text.charAt(at)
    let end: number | undefined
    if (text.startsWith('//', at)) {
      at = lineEnd(text, at) - 1
    } else if (text.startsWith('/*', at)) {
      end = text.indexOf('*/', at + 2)
      isOpen = end < 0
      at = end + 1
    } else if (character === '"' || character === "'") {
      end = quotedEnd(text, at)
      isOpen = end === undefined
      add('"', at)
      at = end ?? at
    } else if (character === '`' || (character === '}' && templates.at(-1) === depth - 1)) {
      if (character === '}') {
        templates.pop()
        depth -= 1
      } else add('"', at)
      const part = templatePart(text, at)
      isOpen = part === undefined
      at = part?.end ?? at
      if (part?.isSubstitution) {
        templates.push(depth)
        depth += 1
      }
    } else if (character === '/' && startsExpression(text, characters)) {
      add('"', at)
      at = expressionEnd(text, at)
    } else if (')]}'.includes(character)) {
      depth -= 1
      add(character, at)
    } else if (character.trim() !== '' || character === '\n') {
      add(character, at)
      if ('([{'.includes(character)) depth += 1
    }
  }
  return { characters, depth, isOpen }
}

/** Index of the line break after this position, or the length of the text. */
function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end < 0 ? text.length : end
}

/** Index of the quote that ends a text; the end of its line without one. Undefined: it continues on the next line. */
function quotedEnd(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '\\') {
      if (at === text.length - 1) return undefined
      at += 1
    } else if (character === text.charAt(start)) return at
    else if (character === '\n') return at - 1 // unterminated: the runner reports it
  }
  return text.length - 1
}

/** The part of a template literal after this position, up to its end or to `${`. Undefined: it does not end. */
function templatePart(
  text: string,
  start: number,
): { readonly end: number; readonly isSubstitution: boolean } | undefined {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '`') return { end: at, isSubstitution: false }
    else if (text.startsWith('${', at)) return { end: at + 1, isSubstitution: true }
  }
  return undefined
}

/** Words before a regular expression. After any other word, `/` divides. */
const wordsBefore = /(?:^|[^\w$.])(?:await|case|delete|do|else|in|instanceof|new|of|return|throw|typeof|void|yield)$/

function startsExpression(text: string, before: readonly CodeCharacter[]): boolean {
  const last = before.findLast((each) => each.text !== '\n')
  if (last === undefined) return true
  if (/[\w$]/.test(last.text)) return wordsBefore.test(text.slice(Math.max(0, last.at - 12), last.at + 1))
  return !')]}"'.includes(last.text)
}

/** Index of the last character of a regular expression, without its flags; the end of its line without an end. */
function expressionEnd(text: string, start: number): number {
  let isClass = false
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '\n') return at - 1
    if (character === '\\') at += 1
    else if (character === '[') isClass = true
    else if (character === ']') isClass = false
    else if (character === '/' && !isClass) return at
  }
  return text.length - 1
}
