import type { CaseDefinition } from '../conformance-context.js'
import { asyncioCases } from './concurrency/asyncio-cases.js'
import { callCases } from './call-cases.js'
import { cellCases } from './cell-cases.js'
import { checkCases } from './check-cases.js'
import { fileCases } from './file-cases.js'
import { restrictedCellCases } from './restricted-cell-cases.js'
import { lifecycleCases } from './lifecycle-cases.js'
import { limitCases } from './limit-cases.js'
import { languageCases } from './python-cases.js'
import { rebuildCases } from './rebuild-cases.js'
import { stepCases } from './step-cases.js'
import { streamCases } from './stream-cases.js'
import { threadCases } from './concurrency/thread-cases.js'
import { timeCases } from './time-cases.js'
import { valueCases } from './value-cases.js'
import { isolationCases } from './isolation-cases.js'

/** The cases of sandboxes that run Python, by group. */
export const pythonCases: readonly (readonly [group: string, cases: readonly CaseDefinition[]])[] = [
  ['calls', callCases],
  ['time', timeCases],
  ['asyncio', asyncioCases],
  ['event loop', threadCases],
  ['cells', cellCases],
  ['checked cells', checkCases],
  ['restricted cells', restrictedCellCases],
  ['Python', languageCases],
  ['Python', streamCases],
  ['Python', valueCases],
  ['cells over a limit', limitCases],
  ['steps', stepCases],
  ['rebuilt program', rebuildCases],
  ['backend', lifecycleCases],
  ['files', fileCases],
  ['sandbox', isolationCases],
]
