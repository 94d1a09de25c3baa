import type { z } from 'zod'

const shownIssues = 10
const issueCharacters = 200

/**
 * A schema's complaints for a model or a person: one short line each, ten at most. The value may be hostile, so every part
 * of it that is quoted is cut.
 */
export function describeIssues(error: z.core.$ZodError): string {
  const shown = error.issues.slice(0, shownIssues).map(describeIssue)
  const rest = error.issues.length - shown.length
  return [...shown, ...(rest > 0 ? [`… and ${rest} more`] : [])].map((line) => `- ${line}`).join('\n')
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const path = formatPath(issue.path)
  const message = cut(issue.message.replace(/^Invalid input: /, ''), issueCharacters)
  return path === '' ? message : `${path}: ${message}`
}

/** `items[3].amount`, cut in the middle of nowhere when it is long. */
export function formatPath(path: readonly PropertyKey[]): string {
  const shown = path.slice(0, 20).map((key) => {
    if (typeof key === 'number') return `[${key}]`
    const name = cut(String(key), 60)
    return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
  })
  const text = shown.join('').replace(/^\./, '')
  return path.length > shown.length ? `${text}…` : text
}

/** The text, or its beginning and an ellipsis; never half a surrogate pair. */
export function cut(text: string, characters: number): string {
  if (text.length <= characters) return text
  return `${text.slice(0, characters - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
