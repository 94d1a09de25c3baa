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
import { type LanguageChoice, languageNamesOf } from '../common/run/language-names.js'
import { truncateEnd } from '../common/text/text.js'
import { combineLanguages, problemOfCombination, services } from './combined.js'
import type { Language } from './language.js'
import { bash } from './bash/index.js'
import { addDefinition, type CommandLanguage, commandLanguages } from './commands/index.js'
import { environment } from './environment/index.js'
import { javascript } from './javascript/index.js'
import { python } from './python/index.js'
import { typescript } from './typescript/index.js'

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
export type { CommandLanguage } from './commands/index.js'
export { mayTakeNumbers, parametersOf } from './parameters.js'
export { withNetwork } from './dispatcher.js'
export { describeGiven } from './shared/prompt.js'
export { installFolder, runnerCommand } from './shared/runner-command.js'

/** The languages with a runner, and bash. */
export const languages: readonly Language[] = [python, javascript, typescript, bash]

/** All languages in which people and models write code. */
function writtenLanguages(): readonly Language[] {
  return [...languages, ...commandLanguages()]
}

/** All languages that a run may have. */
function allLanguages(): readonly Language[] {
  return [...writtenLanguages(), environment]
}

/** The program of each language: its title, and the command that prints its version in an image. */
export function languagePrograms(): readonly ({ readonly name: string } & Language['program'])[] {
  return allLanguages().map(({ name, program }) => ({ name, ...program }))
}

/**
 * Defines a language whose cells a command of the image executes, for runs that have it besides another language. It is
 * known in this process from now on: call it in the file of the configuration, and where a client names the language. A
 * shipped one may be defined again, such as `java` with another path.
 *
 * @returns the name, for `language`
 * @throws PtcError CONFIG_INVALID
 */
export function defineLanguage(definition: CommandLanguage): string {
  addDefinition(definition, [...[...languages, environment].map(({ name }) => name), ...services])
  return definition.name
}

/**
 * Returns the language of a run. For a name with commas, such as `python,bash`, it is the combination of several. The
 * name of a sandbox's language may end in services of the dispatcher, such as `python,files`.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE, because another worker may have the language
 */
export function languageOf(name: string): Language {
  const names = languageNamesOf(name)
  const ofDispatcher = services.filter((service) => names.includes(service))
  const [first = defaultLanguageName, ...others] = names.filter((each) => !isService(each))
  const language = knownLanguage(first)
  if (others.length === 0 && ofDispatcher.length === 0) return language
  return combineLanguages([language, ...others.map(knownLanguage)], ofDispatcher)
}

function isService(name: string): boolean {
  return services.some((service) => service === name)
}

function knownLanguage(name: string): Language {
  const found = allLanguages().find((language) => language.name === name)
  if (found) return found
  throw new PtcError('SANDBOX_UNAVAILABLE', `this worker has no language ${name}`, {
    hint: 'Start a worker of the version that started the run, or a later one.',
  })
}

/** The language of runs and configurations that name none. */
export const defaultLanguage: Language = languageOf(defaultLanguageName)

/** Returns why no new run can have this choice of languages; undefined for one that is valid. */
export function problemOfLanguage(choice: unknown): string | undefined {
  const written = writtenLanguages().map((language) => language.name)
  const given: readonly unknown[] = Array.isArray(choice) ? choice : [choice]
  if (given.length === 0 || given.some((each) => typeof each !== 'string'))
    return `a language is one of ${written.join(', ')}, or a list of them`
  const tooLong = (given as readonly string[]).find((each) => each.length > maxChoiceCharacters)
  const names = tooLong === undefined ? languageNamesOf(choice as LanguageChoice) : [tooLong]
  if (names.length > maxLanguages) return `a run has at most ${maxLanguages} languages, not ${names.length}`
  const unknown = names.find((name) => !allLanguages().some((language) => language.name === name))
  if (unknown === undefined) return problemOfCombination(names.map(knownLanguage))
  const asked = JSON.stringify(truncateEnd(unknown, 40))
  return `there is no language ${asked}; there are: ${written.join(', ')}`
}

/** Languages that a run may have. */
const maxLanguages = 8

/** More than any valid choice has. */
const maxChoiceCharacters = 1_000

/** The language of code in a file with this name; undefined for other files. */
export function languageOfFile(file: string): Language | undefined {
  return writtenLanguages().find(({ extension, otherExtensions = [] }) =>
    [extension, ...otherExtensions].some((each) => file.endsWith(each)),
  )
}
