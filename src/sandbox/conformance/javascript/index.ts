import type { LanguageSuite } from '../language-suite.js'
import { nodeCases } from './node-cases.js'
import { javascriptPrograms } from './code/programs.js'
import { javascriptSessions } from './code/sessions.js'

export const javascriptSuite: LanguageSuite = {
  language: 'javascript',
  column: { ...javascriptPrograms, ...javascriptSessions },
  ownCases: [['Node', nodeCases]],
}

/** Its code is TypeScript, too. */
export const typescriptSuite: LanguageSuite = { ...javascriptSuite, language: 'typescript' }
