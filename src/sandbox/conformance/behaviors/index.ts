import type { Behaviors, Code } from './behavior.js'
import { callBehaviors } from './calls.js'
import { cellBehaviors, outputBehaviors } from './cells.js'
import { checkBehaviors } from './checks.js'
import { limitBehaviors } from './limits.js'
import { fileBehaviors, isolationBehaviors, sandboxBehaviors } from './sandboxes.js'
import { rebuildBehaviors, restrictedCellBehaviors, stepBehaviors } from './steps.js'
import { timeBehaviors } from './time.js'

/** The rows of the table, by group. */
export const behaviorGroups = {
  calls: callBehaviors,
  time: timeBehaviors,
  cells: cellBehaviors,
  'checked cells': checkBehaviors,
  output: outputBehaviors,
  limits: limitBehaviors,
  'repeated steps': stepBehaviors,
  'rebuilt programs': rebuildBehaviors,
  'sub-agents': restrictedCellBehaviors,
  sandboxes: sandboxBehaviors,
  isolation: isolationBehaviors,
  files: fileBehaviors,
} satisfies Readonly<Record<string, Behaviors>>

type Groups = typeof behaviorGroups

/** The column of a language: the code of every row. A row without code is a type error. */
export type Column = {
  readonly [Group in keyof Groups]: { readonly [Name in keyof Groups[Group]]: Code }
}
