import type { JsonValue } from '../../common/json/json.js'
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

/** A text for one `# comment`. */
export function commentText(text: string): string {
  return toPrintable(text).replace(/\s+/g, ' ').trim()
}

/**
 * The text with \n as line end, without other control characters (a NUL ends Python's source) and without lone
 * surrogates (UTF-8 has none).
 */
function toPrintable(text: string): string {
  return text
    .replace(/\r\n?|\u2028|\u2029|\u0085/g, '\n')
    .replace(/\p{Surrogate}/gu, '\uFFFD')
    .replace(/[^\P{Cc}\n\t]/gu, '')
}

/** `get_expenses` and `line items` become `GetExpenses` and `LineItems`. Empty without any letter or digit. */
export function pascalCase(text: string): string {
  const name = text
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join('')
  return /^\d/.test(name) ? `_${name}` : name
}
