import type { JsonObject, JsonValue } from '../../common/json/json.js'

/** The arguments of a call as words of a command line. */
export function argumentWords(input: JsonObject): string {
  return Object.entries(input)
    .map(([name, value]) => `${quoteWord(name)}=${quoteWord(typeof value === 'string' ? value : textOf(value))}`)
    .join(' ')
}

function textOf(value: JsonValue): string {
  return JSON.stringify(value)
}

/** A text as one word of bash. */
export function quoteWord(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
