import type { JsonValue } from '../../common/json/json.js'
import { toPrintable } from '../shared/texts.js'
import { pythonKeywords } from './reserved-names.js'

/**
 * Whether a name may be a keyword argument in Python. Only ASCII, because Python normalizes other letters, such as `é`.
 */
export function isPythonIdentifier(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !pythonKeywords.has(name)
}

/** A JSON value as a Python literal on one line. */
export function pythonLiteral(value: JsonValue): string {
  if (value === null) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (typeof value === 'string') return pythonString(value)
  if (typeof value === 'number') return String(value)
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`
  const members = Object.entries(value).map(([key, member]) => `${pythonString(key)}: ${pythonLiteral(member)}`)
  return `{${members.join(', ')}}`
}

/** A string in single quotes, like Python's repr. All escapes of JSON mean the same in Python. */
function pythonString(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

/** Escaped lines of a docstring: they can't end the docstring or break the source file. */
export function docstringLines(text: string): string[] {
  return toPrintable(text)
    .replaceAll('\\', '\\\\')
    .replaceAll('"""', '\\"\\"\\"')
    .trim()
    .split('\n')
    .map((line) => line.trimEnd())
}
