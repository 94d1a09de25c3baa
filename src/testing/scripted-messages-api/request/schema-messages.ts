import type { z } from 'zod'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/**
 * Formats a schema failure like the real API: `messages.0.content.1.tool_use.id: Field required`. Reports only the
 * first failure, and an unknown field last, since it is often the consequence of another failure.
 */
export function schemaMessage(issues: readonly Issue[], body: unknown): string {
  const issue = issues.find(({ code }) => code !== 'unrecognized_keys') ?? issues[0]
  if (issue === undefined) return 'Invalid request'
  const path = issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : issue.path
  const value = valueAt(body, path)
  if (issue.code === 'invalid_union') return unionMessage(issue, path, body)
  return withPath(path, body, value === undefined ? 'Field required' : issueText(issue))
}

function unionMessage(issue: Issue & { code: 'invalid_union' }, path: Path, body: unknown): string {
  const discriminator = issue.discriminator ?? 'type'
  // Zod's path ends at the discriminator; the real API's at the value that has it.
  const holder = path.at(-1) === discriminator ? path.slice(0, -1) : path
  const tag = valueAt(body, [...holder, discriminator])
  if (tag === undefined) return withPath([...holder, discriminator], body, 'Field required')
  const expected =
    'options' in issue && Array.isArray(issue.options)
      ? issue.options.map((option) => `'${String(option)}'`).sort()
      : []
  const tags = expected.length > 0 ? `: ${expected.join(', ')}` : ''
  return withPath(
    holder,
    body,
    `Input tag '${typeof tag === 'string' ? tag : JSON.stringify(tag)}' found using '${discriminator}' does not match any of the expected tags${tags}`,
  )
}

function withPath(path: Path, body: unknown, message: string): string {
  return path.length === 0 ? message : `${pathWithTypes(path, body).join('.')}: ${message}`
}

/** Fields whose values are discriminated by `type`. The API adds that type to the path, after the value. */
const taggedFields = new Set<PropertyKey>(['cache_control', 'thinking', 'tool_choice', 'source'])

function pathWithTypes(path: Path, body: unknown): string[] {
  return path.flatMap((segment, depth) => {
    const here = path.slice(0, depth + 1)
    const inUnion =
      taggedFields.has(segment) ||
      (typeof segment === 'number' && ['content', 'tools'].includes(String(path[depth - 1])))
    const isLast = depth === path.length - 1
    const tag = inUnion && !isLast && path[depth + 1] !== 'type' ? valueAt(body, [...here, 'type']) : undefined
    if (typeof tag === 'string') return [String(segment), tag]
    return inUnion && !isLast && path[depth - 1] === 'tools' ? [String(segment), 'custom'] : [String(segment)]
  })
}

function valueAt(body: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, segment) => {
    return typeof value === 'object' && value !== null ? Reflect.get(value, segment) : undefined
  }, body)
}

function issueText(issue: Issue): string {
  // A schema may have the API's own text.
  if (issue.message.startsWith('Input should be ')) return issue.message
  if (issue.code === 'invalid_type') return typeText(issue.expected)
  if (issue.code === 'unrecognized_keys') return 'Extra inputs are not permitted'
  if (issue.code === 'too_small') {
    return issue.origin === 'string'
      ? `String should have at least ${issue.minimum} ${plural(issue.minimum, 'character')}`
      : `Input should be greater than or equal to ${issue.minimum}`
  }
  if (issue.code === 'too_big') {
    return issue.origin === 'string'
      ? `String should have at most ${issue.maximum} ${plural(issue.maximum, 'character')}`
      : `Input should be less than or equal to ${issue.maximum}`
  }
  if (issue.code === 'invalid_format') {
    return `String should match pattern '${(issue.pattern ?? '').replaceAll(/^\/|\/$/g, '')}'`
  }
  if (issue.code === 'invalid_value') {
    return `Input should be ${joinWithOr(issue.values.map((one) => `'${String(one)}'`))}`
  }
  return issue.message
}

function typeText(expected: string): string {
  switch (expected) {
    case 'array':
      return 'Input should be a valid list'
    case 'record':
      return 'Input should be a valid dictionary'
    case 'object':
      return 'Input should be a valid dictionary or object to extract fields from'
    default:
      return `Input should be a valid ${expected}`
  }
}

function plural(count: number | bigint, noun: string): string {
  return Number(count) === 1 ? noun : `${noun}s`
}

function joinWithOr(options: readonly string[]): string {
  return options.length < 2 ? options.join('') : `${options.slice(0, -1).join(', ')} or ${options.at(-1)}`
}
