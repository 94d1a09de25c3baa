/** A text for a comment on one line. */
export function commentText(text: string): string {
  return toPrintable(text).replace(/\s+/g, ' ').trim()
}

/**
 * The text with \n as line end, without other control characters (a NUL ends Python's source) and without lone
 * surrogates (UTF-8 has none).
 */
export function toPrintable(text: string): string {
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
