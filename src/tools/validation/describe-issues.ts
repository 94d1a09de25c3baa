import type { z } from 'zod'
import { takeStart } from '../../common/text/text.js'

const maxIssues = 10
const maxIssueCharacters = 200

/**
 * The issues of a schema for a model or a person: one short line each, at most ten. The value may be hostile, so every
 * quoted part of it is truncated.
 */
export function describeIssues(error: z.core.$ZodError): string {
  const shown = error.issues.slice(0, maxIssues).map(describeIssue)
  const rest = error.issues.length - shown.length
  return [...shown, ...(rest > 0 ? [`… and ${rest} more`] : [])].map((line) => `- ${line}`).join('\n')
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const path = formatPath(issue.path)
  const message = truncate(issue.message.replace(/^Invalid input: /, ''), maxIssueCharacters)
  return path === '' ? message : `${path}: ${message}`
}

/** A path such as `items[3].amount`; truncated after 20 keys. */
export function formatPath(path: readonly PropertyKey[]): string {
  const shown = path.slice(0, 20).map((key) => {
    if (typeof key === 'number') return `[${key}]`
    const name = truncate(String(key), 60)
    return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
  })
  const text = shown.join('').replace(/^\./, '')
  return path.length > shown.length ? `${text}…` : text
}

/** At most `characters` characters: the text, or its beginning and an ellipsis. Never splits a surrogate pair. */
export function truncate(text: string, characters: number): string {
  if (text.length <= characters) return text
  return `${takeStart(text, characters - 1)}…`
}
