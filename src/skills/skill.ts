/*
 * Skills: folders with a `SKILL.md`, the open format of agentskills.io, and the files that its instructions use.
 *
 * Owns: reading and checking the folders, the choice of an agent, the list in the prompt, and what a run records.
 * Boundary: `src/workflows/run/active-skills.ts` says which skills are active, and admits calls. A sandbox backend puts
 * the files into a sandbox (`src/sandbox/sandbox-files.ts`), and does not know skills.
 *
 * Invariants:
 * 1. A process reads the folders once, when a worker starts. Later changes of the folders have no effect on it. A run
 *    records the skills of its start by content.
 * 2. A skill that is not read completely is an error, and never a skill with fewer restrictions: there is no worker
 *    that has some of the skills.
 * 3. No file outside of a folder is read: links and special files are refused, in each part of a path.
 * 4. Number and size of everything is bounded before it is read (`limits.ts`).
 * 5. A skill never widens permissions: `allowed-tools` only restricts. A name that is no tool of the run allows nothing.
 * 6. Descriptions are data of unknown origin: one line without control characters, in a bounded list that says so.
 */
import { PtcError } from '../common/errors.js'
import type { SandboxFile } from '../sandbox/sandbox-files.js'

/** The frontmatter of a `SKILL.md`, checked. */
export interface SkillHeader {
  readonly name: string
  /** One line. */
  readonly description: string
  readonly license: string | undefined
  readonly compatibility: string | undefined
  readonly metadata: Readonly<Record<string, string>>
  /** Undefined: the skill restricts no tools. */
  readonly allowedTools: readonly string[] | undefined
  /** Only the start of a run can activate the skill. */
  readonly isHidden: boolean
}

/** A checked skill, with its files in memory. */
export interface Skill extends SkillHeader {
  /** The folder, for messages. */
  readonly folder: string
  /** The text after the frontmatter. */
  readonly instructions: string
  /** All files of the folder, with paths that begin with the name; empty when there is only `SKILL.md`. */
  readonly files: readonly SandboxFile[]
  /** SHA-256 of all files. */
  readonly digest: string
}

/** @param file path of a file or a folder */
export function invalidSkill(file: string, reason: string, hint?: string): PtcError {
  const options = { hint: hint ?? 'docs/guides/skills.md describes the format.' }
  return new PtcError('SKILL_INVALID', `${file}: ${reason}`, options)
}
