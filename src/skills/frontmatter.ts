import { parseDocument } from 'yaml'
import { z } from 'zod'
import { decodeText } from '../common/text/decode-text.js'
import { takeStart, toPlainLine, truncateEnd } from '../common/text/text.js'
import { closestMatch } from '../common/text/unknown-keys.js'
import { describeIssues } from '../tools/validation/describe-issues.js'
import { skillLimits } from './limits.js'
import { invalidSkill, type SkillHeader } from './skill.js'

const namePattern = /^[a-z0-9]+(-[a-z0-9]+)*$/

const text = z.string()
const { nameCharacters, descriptionCharacters, compatibilityCharacters, allowedTools: maxTools } = skillLimits

const header = z.object({
  name: text
    .max(nameCharacters)
    .regex(namePattern, 'must be lower-case letters, digits and single hyphens between them'),
  // Published skills exceed the limit of the format.
  description: text.max(skillLimits.frontmatterBytes).refine((value) => toPlainLine(value) !== '', 'must not be empty'),
  license: text.max(descriptionCharacters).optional(),
  compatibility: text.min(1).max(compatibilityCharacters).optional(),
  metadata: z.record(z.string().max(100), z.union([text, z.number(), z.boolean()])).optional(),
  'allowed-tools': z.union([text, z.array(text.min(1)).max(maxTools)]).optional(),
  'disable-model-invocation': z.boolean().optional(),
})

const knownKeys = Object.keys(header.shape)

export interface ParsedSkill {
  readonly header: SkillHeader
  readonly instructions: string
  /** What has no effect. */
  readonly warnings: readonly string[]
}

/**
 * Parses a `SKILL.md`. A byte order mark and line ends of Windows have no effect.
 *
 * @param file for messages
 * @throws PtcError SKILL_INVALID
 */
export function parseSkill(bytes: Uint8Array, file: string): ParsedSkill {
  if (bytes.byteLength > skillLimits.instructionBytes)
    throw invalidSkill(file, `has more than ${skillLimits.instructionBytes} bytes`, 'Move details to other files.')
  const content = decodeText(bytes, file, 'SKILL_INVALID').replaceAll('\r\n', '\n')
  const found = /^---[ \t]*\n(.*?\n)?---[ \t]*(?:\n(.*))?$/s.exec(content)
  if (!found) throw invalidSkill(file, 'has no frontmatter between two lines ---')
  const [, yaml = '', instructions = ''] = found
  if (Buffer.byteLength(yaml) > skillLimits.frontmatterBytes)
    throw invalidSkill(file, `has a frontmatter of more than ${skillLimits.frontmatterBytes} bytes`)
  const values = parseYaml(yaml, file)
  const ignoredKeys = Object.keys(values).filter((key) => !knownKeys.includes(key))
  // A misspelt key would drop a restriction.
  for (const key of ignoredKeys) {
    const known = closestMatch(key.replaceAll(/[_ ]|(?<=[a-z])(?=[A-Z])/g, '-'), knownKeys)
    if (known !== undefined) throw invalidSkill(file, `has an unknown key ${quote(key)}. Did you mean ${quote(known)}?`)
  }
  const { data, error } = header.safeParse(values)
  if (error) throw invalidSkill(file, `has an invalid frontmatter:\n${describeIssues(error)}`)
  const { name, description, license, compatibility, metadata = {} } = data
  const tools = data['allowed-tools']
  const line = toPlainLine(description)
  const isCut = line.length > descriptionCharacters
  const parsed: SkillHeader = {
    name,
    description: isCut ? truncateEnd(line, descriptionCharacters) : line,
    license,
    compatibility,
    metadata: Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, String(value)])),
    allowedTools: typeof tools === 'string' ? splitTools(tools, file) : tools,
    isHidden: data['disable-model-invocation'] ?? false,
  }
  const warnings = [
    ...(ignoredKeys.length > 0 ? [`these keys have no effect: ${takeStart(ignoredKeys.join(', '), 200)}`] : []),
    ...(isCut ? [`only the first ${descriptionCharacters} characters of the description are used`] : []),
  ]
  return { header: parsed, instructions: instructions.trim(), warnings }
}

function parseYaml(yaml: string, file: string): object {
  const first = readYaml(yaml)
  if (typeof first === 'object') return first
  const quoted = quoteDescription(yaml)
  const second = quoted === undefined ? undefined : readYaml(quoted)
  if (typeof second === 'object') return second
  const hint = 'Quote a value that contains ": " or begins with a special character.'
  throw invalidSkill(file, `has a frontmatter that is not YAML: ${first}`, hint)
}

/** Returns the mapping, or what is wrong with the text. */
function readYaml(yaml: string): object | string {
  try {
    const document = parseDocument(yaml, { uniqueKeys: true, prettyErrors: false, stringKeys: true })
    const [problem] = [...document.errors, ...document.warnings]
    if (problem) return takeStart(toPlainLine(problem.message), 200)
    const value: unknown = document.toJS({ maxAliasCount: 0 })
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
    return 'it is not a mapping of keys to values'
  } catch (thrown) {
    return takeStart(toPlainLine(thrown instanceof Error ? thrown.message : String(thrown)), 200)
  }
}

/**
 * Quotes the description, if it is one unquoted line: many skills have ": " in it, which YAML does not allow. Nothing
 * else is repaired, so no restriction can be lost.
 */
function quoteDescription(yaml: string): string | undefined {
  const lines = yaml.split('\n')
  const index = lines.findIndex((line) => line.startsWith('description:'))
  const value = lines[index]?.slice('description:'.length).trim() ?? ''
  const isContinued = /^[ \t]+\S/.test(lines[index + 1] ?? '')
  if (index < 0 || isContinued || value === '' || /^["'|>&*!%@`[{]/.test(value)) return undefined
  return lines.with(index, `description: ${JSON.stringify(value)}`).join('\n')
}

/** Splits a text at spaces and commas outside of parentheses: `Bash(git add:*) Read`. */
function splitTools(tools: string, file: string): readonly string[] {
  const names = tools.match(/[^\s,()]*\([^()]*\)|[^\s,()]+/g) ?? []
  if (names.join('') !== tools.replaceAll(/[\s,]+(?![^()]*\))/g, ''))
    throw invalidSkill(
      file,
      `has allowed-tools that are not names, separated by spaces: ${quote(takeStart(tools, 100))}`,
    )
  if (names.length > maxTools) throw invalidSkill(file, `allows more than ${maxTools} tools`)
  return names
}

function quote(value: string): string {
  return JSON.stringify(value)
}
