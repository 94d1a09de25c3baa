/*
 * Skills of a run: what the run records of them at its start, and what a turn of the model needs.
 *
 * Invariants:
 * 1. A run has the skills of its start, by content: the references are hashes, so neither another version of a folder
 *    nor another worker changes what the model reads and what code runs.
 * 2. A skill never gives a tool to a run. `allowedTools` are names of tools that the run has.
 */
import type { Externalizable, ExternalValue } from '../json/external-value.js'

/** The skills of a run. A run without skills has no such member. */
export interface RunSkills {
  /** The list in the prompt. Undefined: the model can't activate a skill. */
  readonly list?: Externalizable<string>
  readonly all: readonly RecordedSkill[]
  /** Names of the skills that the start of the run has activated. Undefined: none. */
  readonly active?: readonly string[]
}

export interface RecordedSkill {
  readonly name: string
  /** SHA-256 of the folder. */
  readonly digest: string
  /** The text that the model gets: the instructions, and the list of the files. */
  readonly instructions: ExternalValue
  /** `StoredFile[]` of `src/skills/`. Undefined: there are none. */
  readonly files?: ExternalValue
  /** Only the start of a run can activate the skill. */
  readonly isHidden?: true
  /** The only tools that can be called while the skill is active. Undefined: it restricts none. */
  readonly allowedTools?: readonly string[]
  /** Names that the skill allows, and that are no tools of the run. Undefined: none. */
  readonly missingTools?: readonly string[]
}

/** The skills for the prompt of a turn. */
export interface SkillsOfTurn {
  readonly list?: Externalizable<string>
  /** The instructions of active skills that no message has. Undefined: there are none. */
  readonly instructions?: readonly ExternalValue[]
}
