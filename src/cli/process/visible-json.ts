import type { JsonValue } from '../../common/json/json.js'
import { invisibleCharacters } from '../../common/text/text.js'

/**
 * A value as JSON that a person may edit at the terminal. Escapes characters that are invisible, change the direction
 * of a text or control the terminal. Parsing the text gives the same value.
 */
export function visibleJson(value: JsonValue): string {
  return JSON.stringify(value)
    .replaceAll(invisibleCharacters, escape)
    .replaceAll(/\p{Cc}/gu, escape)
}

/** Escapes each code unit of a character. */
function escape(character: string): string {
  return character.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
