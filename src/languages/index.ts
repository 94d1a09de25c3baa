/*
 * Languages of programs.
 *
 * Owns: what depends on the language of a program: reserved names, the texts for the model, the code that people type,
 * and the command that starts its runner.
 * Boundary: pure text. It knows no tool, model or sandbox; `runner/` executes programs. `shared/` has what does not
 * depend on a language: reading JSON Schemas, sharing the types that stubs declare.
 *
 * Invariants:
 * 1. A text depends only on the arguments: prompt caching depends on equal bytes.
 * 2. Tools, models, sandboxes and the command line know languages only by this list.
 * 3. A run records the name of its language. A name is never given to another language.
 */

import { PtcError } from '../common/errors.js'
import { defaultLanguageName } from '../common/names.js'
import { truncateEnd } from '../common/text/text.js'
import type { Language } from './language.js'
import { bash } from './bash/index.js'
import { javascript } from './javascript/index.js'
import { python } from './python/index.js'

export type {
  DocumentedTool,
  Environment,
  EnvironmentLimits,
  ExampleCall,
  HostedLanguage,
  Language,
  Repl,
  ToolsOptions,
} from './language.js'
export { parametersOf } from './parameters.js'
export { installFolder, runnerCommand } from './shared/runner-command.js'

export const languages: readonly Language[] = [python, javascript, bash]

/**
 * Returns the language of a run.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE, because another worker may have the language
 */
export function languageOf(name: string): Language {
  const found = languages.find((language) => language.name === name)
  if (found) return found
  throw new PtcError('SANDBOX_UNAVAILABLE', `this worker has no language ${name}`, {
    hint: 'Start a worker of the version that started the run, or a later one.',
  })
}

/** The language of runs and configurations that name none. */
export const defaultLanguage: Language = languageOf(defaultLanguageName)

/** Returns why no new run can have this language; undefined for a known one. */
export function problemOfLanguage(name: unknown): string | undefined {
  const known = languages.map((language) => language.name)
  if (typeof name !== 'string') return `a language is one of ${known.join(', ')}`
  if (known.includes(name)) return undefined
  const asked = JSON.stringify(truncateEnd(name, 40))
  return `there is no language ${asked}; there are: ${known.join(', ')}`
}

/** The language of code in a file with this name; undefined for other files. */
export function languageOfFile(file: string): Language | undefined {
  return languages.find(({ extension, otherExtensions = [] }) =>
    [extension, ...otherExtensions].some((each) => file.endsWith(each)),
  )
}
