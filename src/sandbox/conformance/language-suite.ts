import { behaviorGroups, type Column } from './behaviors/index.js'
import type { Behavior, Code } from './behaviors/behavior.js'
import type { CaseDefinition } from './conformance-context.js'

/** What a language does in a sandbox. */
export interface LanguageSuite {
  readonly language: string
  /** Its column of the table. */
  readonly column: Column
  /** What only this language has, by group. */
  readonly ownCases: readonly (readonly [group: string, cases: readonly CaseDefinition[]])[]
}

/** A row of the table in one language. */
export interface Row {
  readonly group: string
  readonly name: string
  readonly behavior: Behavior
  readonly code: Code
}

/** The rows of a language, in the order of the table. */
export function rowsOf({ column }: LanguageSuite): readonly Row[] {
  return Object.entries<Readonly<Record<string, Behavior>>>(behaviorGroups).flatMap(([group, behaviors]) => {
    const codes: Readonly<Record<string, Code>> = column[group as keyof Column]
    return Object.entries(behaviors).map(([name, behavior]) => {
      const code = codes[name]
      if (code === undefined) throw new Error(`no code for ${name}`)
      return { group, name, behavior, code }
    })
  })
}

/** What a row requires of a sandbox. */
export function requirementsOf({ behavior, code }: Row): readonly Requirement[] {
  const ofLanguage = typeof code === 'object' && 'requires' in code ? code.requires : []
  return [behavior.requires ?? [], ofLanguage].flat()
}

type Requirement = Extract<NonNullable<CaseDefinition['requires']>, string>

/** The row as a case. Undefined: there is nothing to run. */
export function caseOf(row: Row): CaseDefinition | undefined {
  const { name, behavior, code } = row
  const requires = requirementsOf(row)
  if (typeof code === 'object' && 'difference' in code) {
    const { check } = code
    return check && { name: `differs: ${name}`, requires, run: (context) => check(context, []) }
  }
  const cells = typeof code === 'object' && 'cells' in code ? code.cells : code
  return { name, requires, run: (context) => behavior.check(context, [cells].flat()) }
}
