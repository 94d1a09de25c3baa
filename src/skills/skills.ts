import type { Agent, Agents } from '../agents/index.js'
import { PtcError } from '../common/errors.js'
import { didYouMean } from '../common/text/unknown-keys.js'
import { matchesAny, unmatchedPattern } from '../common/text/name-patterns.js'
import type { ToolLog } from '../tools/tool-context.js'
import { readSkills } from './read-skills.js'
import type { Skill } from './skill.js'

/** The skills of a configuration, before its folders are read. */
export interface ConfiguredSkills {
  /** Relative to the configuration. */
  readonly folders: readonly string[]
  /** Reads the folders. @throws PtcError SKILL_INVALID */
  read(log: ToolLog): Promise<readonly Skill[]>
  /**
   * Reads the folders for a worker.
   *
   * @throws PtcError SKILL_INVALID; CONFIG_INVALID for an agent with a skill that is not there
   */
  open(agents: Agents, log: ToolLog): Promise<readonly Skill[]>
}

/** @param base the folder of the configuration */
export function configuredSkills(folders: readonly string[], base: string): ConfiguredSkills {
  const read = (log: ToolLog): Promise<readonly Skill[]> => readSkills(folders, base, log)
  return {
    folders,
    read,
    async open(agents, log) {
      const skills = await read(log)
      const names = skills.map(({ name }) => name)
      for (const agent of agents.names.map((name) => agents.require(name))) {
        const missing = unmatchedPattern(agent.skills ?? [], names)
        if (missing === undefined) continue
        throw new PtcError(
          'CONFIG_INVALID',
          `agent ${agent.name} has no skill ${missing}${didYouMean(missing, names)}`,
          {
            hint: names.length === 0 ? 'Name the folder of the skills in `skills`.' : `There are: ${names.join(', ')}.`,
          },
        )
      }
      return skills
    },
  }
}

/** The skills of an agent: all of the configuration, unless it names some. */
export function skillsOf(skills: readonly Skill[], agent: Pick<Agent, 'skills'> | undefined): readonly Skill[] {
  const { skills: patterns } = agent ?? {}
  return patterns === undefined ? skills : skills.filter(({ name }) => matchesAny(name, patterns))
}

/**
 * Checks the names of the skills that the start of a run activates.
 *
 * @param skills those of the agent of the run
 * @throws PtcError SKILL_UNKNOWN
 */
export function requireSkills(skills: readonly Skill[], active: readonly string[]): void {
  const names = skills.map(({ name }) => name)
  const unknown = active.find((name) => !names.includes(name))
  if (unknown === undefined) return
  const message = `the run has no skill ${JSON.stringify(unknown)}${didYouMean(unknown, names)}`
  throw new PtcError('SKILL_UNKNOWN', message, {
    hint: names.length === 0 ? 'It has none.' : `It has: ${names.join(', ')}.`,
  })
}
