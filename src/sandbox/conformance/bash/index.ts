import type { LanguageSuite } from '../language-suite.js'
import { bashPrograms } from './code/programs.js'
import { bashSessions } from './code/sessions.js'

/** `test/slow/languages/bash-cells.test.ts` has what only bash has. */
export const bashSuite: LanguageSuite = {
  language: 'bash',
  column: { ...bashPrograms, ...bashSessions },
  ownCases: [],
}
