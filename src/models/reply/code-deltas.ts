/** The parameter of the code tool (code-tool.ts). */
const codeParameter = 'code'

type Position =
  /** Outside of a string. */
  | { readonly type: 'between' }
  | { readonly type: 'string'; readonly isKey: boolean }
  /** After a backslash in a string. */
  | { readonly type: 'escape'; readonly isKey: boolean }
  | { readonly type: 'unicode'; readonly isKey: boolean; readonly digits: string }

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/**
 * Reads the code out of the input of the code tool while its JSON arrives in pieces: `{"code": "…"}`. Never throws: for
 * invalid JSON it may return some text. The parser of the whole input reports the error.
 */
export class CodeDeltas {
  #position: Position = { type: 'between' }
  /** Open braces and brackets. */
  #depth = 0
  #key = ''
  /** True after a colon of the outermost object, until its value has ended. */
  #isValue = false

  /** @returns the characters of the code in this piece */
  add(json: string): string {
    let code = ''
    for (const character of json) code += this.#next(character)
    return code
  }

  #next(character: string): string {
    const position = this.#position
    switch (position.type) {
      case 'between':
        this.#nextBetween(character)
        return ''
      case 'string':
        if (character === '"') this.#position = { type: 'between' }
        else if (character === '\\') this.#position = { type: 'escape', isKey: position.isKey }
        else return this.#take(character, position.isKey)
        return ''
      case 'escape': {
        const { isKey } = position
        this.#position = character === 'u' ? { type: 'unicode', isKey, digits: '' } : { type: 'string', isKey }
        return character === 'u' ? '' : this.#take(escapes[character] ?? character, isKey)
      }
      case 'unicode': {
        const digits = position.digits + character
        if (digits.length < 4) {
          this.#position = { ...position, digits }
          return ''
        }
        this.#position = { type: 'string', isKey: position.isKey }
        const unit = Number.parseInt(digits, 16)
        return Number.isNaN(unit) ? '' : this.#take(String.fromCharCode(unit), position.isKey)
      }
    }
  }

  #nextBetween(character: string): void {
    if (character === '"') {
      const isKey = this.#depth === 1 && !this.#isValue
      if (isKey) this.#key = ''
      this.#position = { type: 'string', isKey }
    } else if (character === '{' || character === '[') this.#depth += 1
    else if (character === '}' || character === ']') this.#depth -= 1
    else if (character === ':' && this.#depth === 1) this.#isValue = true
    else if (character === ',' && this.#depth === 1) this.#isValue = false
  }

  #take(text: string, isKey: boolean): string {
    if (isKey) this.#key += text
    const isCode = !isKey && this.#depth === 1 && this.#key === codeParameter
    return isCode ? text : ''
  }
}
