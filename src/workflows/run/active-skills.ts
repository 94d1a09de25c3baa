import type { RecordedSkill, RunSkills, SkillsOfTurn } from '../../common/agent/skills.js'
import { takeStart } from '../../common/text/text.js'

/** A skill whose instructions apply. */
interface ActiveSkill {
  readonly name: string
  /** The start of the run has activated it: only the end of the run ends it. */
  readonly isPinned?: true
  /** The prompt has the instructions. Undefined: the result of the tool use that activated the skill has them. */
  readonly isInPrompt?: true
}

/** Undefined: the start of the run has activated what is active. */
export type ActiveSkillsState = readonly ActiveSkill[]

/**
 * The active skills of a run, and what they restrict.
 *
 * Invariants:
 * 1. A tool can be called only if each active skill with `allowed-tools` allows it. An activation applies before all
 *    other tool uses of its reply, and a deactivation after them.
 * 2. A skill that the start of the run has activated can't be deactivated, so the model can't end its restriction.
 * 3. The instructions of an active skill are in the prompt or in the messages: a compaction moves them to the prompt.
 */
export class ActiveSkills {
  readonly #skills: ReadonlyMap<string, RecordedSkill>
  readonly #list: RunSkills['list']
  #active: ActiveSkillsState

  constructor({ all, list, active = [] }: RunSkills = { all: [] }, state?: ActiveSkillsState) {
    this.#skills = new Map(all.map((skill) => [skill.name, skill]))
    this.#list = list
    this.#active = state ?? active.map((name) => ({ name, isPinned: true, isInPrompt: true }))
  }

  /** Undefined: the run has no skills. */
  get state(): ActiveSkillsState | undefined {
    return this.#skills.size === 0 ? undefined : this.#active
  }

  /** Whether the model has the tools to activate and to deactivate skills. */
  get hasTools(): boolean {
    return this.#list !== undefined
  }

  /**
   * What the prompt of a turn needs. Undefined: nothing.
   *
   * @param isCompacted the messages are about to be compacted
   */
  ofTurn(isCompacted = false): SkillsOfTurn | undefined {
    const instructions = this.#active
      .filter(({ isInPrompt }) => isInPrompt || isCompacted)
      .flatMap(({ name }) => this.#skills.get(name)?.instructions ?? [])
    if (this.#list === undefined && instructions.length === 0) return undefined
    return {
      ...(this.#list !== undefined && { list: this.#list }),
      ...(instructions.length > 0 && { instructions }),
    }
  }

  /** True when an active skill restricts the tools. */
  get isRestricting(): boolean {
    return this.#restricting.length > 0
  }

  /** Returns why a tool can't be called now; undefined when it can. */
  refusalOf(tool: string): string | undefined {
    const skill = this.#restricting.find(({ allowedTools = [] }) => !allowedTools.includes(tool)) // invariant 1
    return skill && `${tool} may not be called while skill ${skill.name} is active: ${describeAllowed(skill)}`
  }

  /** @returns the skill, or why the model can't activate it */
  activate(name: unknown): RecordedSkill | string {
    const skill = typeof name === 'string' ? this.#skills.get(name) : undefined
    if (!skill || skill.isHidden) return `there is no skill ${shown(name)}`
    if (this.#find(skill.name)) return `skill ${skill.name} is active already`
    this.#active = [...this.#active, { name: skill.name }]
    return skill
  }

  /** @returns why the model can't deactivate the skill; undefined when it is no longer active */
  deactivate(name: unknown): string | undefined {
    const active = typeof name === 'string' ? this.#find(name) : undefined
    if (!active) return `there is no active skill ${shown(name)}`
    if (active.isPinned) return `skill ${active.name} was activated by the user, and stays active` // invariant 2
    this.#active = this.#active.filter((each) => each !== active)
    return undefined
  }

  /** Called when the messages have been replaced: what the model has activated ends. */
  reset(): void {
    this.#active = this.#active.filter(({ isPinned }) => isPinned)
  }

  /** Called when a compaction may have removed the instructions from the messages. */
  moveToPrompt(): void {
    this.#active = this.#active.map((each) => ({ ...each, isInPrompt: true })) // invariant 3
  }

  get #restricting(): readonly RecordedSkill[] {
    return this.#active
      .flatMap(({ name }) => this.#skills.get(name) ?? [])
      .filter(({ allowedTools }) => allowedTools !== undefined)
  }

  #find(name: string): ActiveSkill | undefined {
    return this.#active.find((each) => each.name === name)
  }
}

/** Says which tools can be called while a skill is active. */
export function describeAllowed({ allowedTools = [], missingTools = [] }: RecordedSkill): string {
  const allowed = allowedTools.length === 0 ? 'it allows no tool of this run' : `it allows only ${join(allowedTools)}`
  return missingTools.length === 0 ? allowed : `${allowed} (this run has no ${join(missingTools)})`
}

const maxNames = 50

function join(names: readonly string[]): string {
  const others = names.length - maxNames
  return names.slice(0, maxNames).join(', ') + (others > 0 ? ` and ${others} more` : '')
}

function shown(name: unknown): string {
  return typeof name === 'string' ? JSON.stringify(takeStart(name, 100)) : 'without a name'
}
