import type { LanguageSuite } from '../language-suite.js'
import { asyncioCases } from './concurrency/asyncio-cases.js'
import { pythonPrograms } from './code/programs.js'
import { pythonSessions } from './code/sessions.js'
import { callCases } from './call-cases.js'
import { cellCases } from './cell-cases.js'
import { checkCases } from './check-cases.js'
import { fileCases } from './file-cases.js'
import { networkCases } from './network-cases.js'
import { runFileCases } from './run-file-cases.js'
import { reportCases } from './report-cases.js'
import { restrictedCellCases } from './restricted-cell-cases.js'
import { limitCases } from './limit-cases.js'
import { languageCases } from './python-cases.js'
import { rebuildCases } from './rebuild-cases.js'
import { streamCases } from './stream-cases.js'
import { threadCases } from './concurrency/thread-cases.js'
import { timeCases } from './time-cases.js'
import { valueCases } from './value-cases.js'

/** The cases that only Python has. */
const ownCases: LanguageSuite['ownCases'] = [
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
  ['cells', reportCases],
  ['cells over a limit', limitCases],
  ['rebuilt program', rebuildCases],
  ['files', fileCases],
  ['files of a run', runFileCases],
  ['network', networkCases],
]

export const pythonSuite: LanguageSuite = {
  language: 'python',
  column: { ...pythonPrograms, ...pythonSessions },
  ownCases,
}
