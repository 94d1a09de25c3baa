import type { RecordedSkill, RunSkills } from '../common/agent/skills.js'
import { ConcurrencyLimit } from '../common/async/concurrency-limit.js'
import { defined } from '../common/defined.js'
import { type ExternalValue, externalValue } from '../common/json/external-value.js'
import type { JsonValue } from '../common/json/json.js'
import { pluralize } from '../common/text/text.js'
import { filesRoot } from '../sandbox/sandbox-files.js'
import { matchesPattern } from '../common/text/name-patterns.js'
import type { Values } from '../values/values.js'
import { skillLimits } from './limits.js'
import type { Skill } from './skill.js'
import { listSkills } from './skill-list.js'
import { toStoredFiles } from './stored-files.js'

/** The skills of a run, chosen by its agent and its start. */
export interface ChosenSkills {
  readonly skills: readonly Skill[]
  /** Names of the skills that the start of the run activates. */
  readonly active: readonly string[]
  /** Names of the tools of the run. */
  readonly tools: readonly string[]
  /** The model may activate skills: it has more than one turn. */
  readonly mayActivate: boolean
}

/**
 * Stores the skills of a new run by content.
 *
 * @param warn reports a list that was cut
 * @returns undefined when the run has none that it can use
 */
export async function recordSkills(
  { skills, active, tools, mayActivate }: ChosenSkills,
  values: Values,
  signal: AbortSignal,
  warn: (line: string) => void,
): Promise<RunSkills | undefined> {
  const visible = mayActivate ? skills.filter(({ isHidden }) => !isHidden) : []
  const used = skills.filter((skill) => visible.includes(skill) || active.includes(skill.name))
  if (used.length === 0) return undefined
  const { text, cut, leftOut } = listSkills(visible)
  if (cut + leftOut > 0) {
    const names = leftOut > 0 ? `, and ${pluralize(leftOut, 'skill')} left out` : ''
    warn(`the list of ${pluralize(visible.length, 'skill')} is too long: ${pluralize(cut, 'description')} cut${names}`)
  }
  // The memory has the texts of few skills at a time.
  const limit = new ConcurrencyLimit(4)
  const all = await Promise.all(used.map((skill) => limit.run(() => recordSkill(skill, tools, values, signal))))
  return {
    ...(visible.length > 0 && { list: await values.externalize(text, signal) }),
    all,
    ...(active.length > 0 && { active }),
  }
}

async function recordSkill(
  skill: Skill,
  tools: readonly string[],
  values: Values,
  signal: AbortSignal,
): Promise<RecordedSkill> {
  const { name, digest, allowedTools, isHidden, files } = skill
  const isNamed = (tool: string): boolean => (allowedTools ?? []).some((pattern) => matchesPattern(tool, pattern))
  const missing = allowedTools?.filter((pattern) => !tools.some((tool) => matchesPattern(tool, pattern))) ?? []
  const store = async (value: JsonValue): Promise<ExternalValue> =>
    // The preview would be in each request for a sandbox.
    externalValue({ ...(await values.store(value, signal)), preview: '' })
  return {
    name,
    digest,
    instructions: await store(describeSkill(skill)),
    ...(files.length > 0 && { files: await store(toStoredFiles(files)) }),
    ...(isHidden && { isHidden }),
    ...defined({ allowedTools: allowedTools && tools.filter(isNamed) }),
    ...(missing.length > 0 && { missingTools: missing }),
  }
}

/** The text that a model gets when a skill becomes active. */
function describeSkill({ name, instructions, files, compatibility }: Skill): string {
  const folder = `${filesRoot}/${name}`
  const listed = files.slice(0, skillLimits.listedFiles).map(({ path }) => `- ${filesRoot}/${path}`)
  const others = files.length - listed.length
  return [
    `Skill ${name}${compatibility === undefined ? '' : ` (needs: ${compatibility})`}`,
    instructions || '(The skill has no instructions.)',
    ...(files.length === 0
      ? []
      : [
          `Files of the skill, for code in the sandbox to read and to run. Relative paths are relative to ${folder}; ` +
            'nothing in it can be changed:',
          [...listed, ...(others > 0 ? [`- and ${pluralize(others, 'other file')}`] : [])].join('\n'),
        ]),
  ].join('\n\n')
}
