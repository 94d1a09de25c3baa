/*
 * Languages whose cells a command executes.
 *
 * Owns: the shipped ones, those of configurations, and the check of a definition.
 * Boundary: an image has the command or has not; the dispatcher finds out when the first cell runs.
 *
 * Invariants:
 * 1. A name is defined once in a process, also with two copies of this package.
 * 2. A definition is plain data. No part of it comes from a model or a client.
 */

import { canonicalJson } from '../../common/json/canonical-json.js'
import { PtcError } from '../../common/errors.js'
import { describeUnknownKeys } from '../../common/text/unknown-keys.js'
import type { Language } from '../language.js'
import { type CommandLanguage, commandLanguage } from './command-language.js'

export type { CommandLanguage } from './command-language.js'

/** Executes the program of `go run` from memory: nothing in `/tmp` may be executed. */
const runFromMemory =
  'import os,sys; f=os.memfd_create("cell"); os.write(f,open(sys.argv[1],"rb").read()); os.execv(f"/proc/self/fd/{f}",sys.argv[1:])'

const shipped: readonly CommandLanguage[] = [
  {
    name: 'go',
    title: 'Go',
    run: ['/usr/bin/go', 'run', '-exec', `/usr/bin/python3 -c '${runFromMemory}'`, '{file}'],
    file: 'cell.go',
    version: ['/usr/bin/go', 'version'],
  },
  { name: 'java', title: 'Java', run: ['/usr/bin/java', '{file}'], file: 'Cell.java' },
  { name: 'perl', title: 'Perl', run: ['/usr/bin/perl', '{file}'], file: 'cell.pl' },
  { name: 'ruby', title: 'Ruby', run: ['/usr/bin/ruby', '{file}'], file: 'cell.rb' },
]

/** The definitions of this process, by name. Any copy of this package has them. */
const definitions: Map<string, CommandLanguage> = sharedDefinitions()

function sharedDefinitions(): Map<string, CommandLanguage> {
  const shared = globalThis as { [key: symbol]: unknown }
  const key = Symbol.for('durable-ptc.command-languages')
  const known = shared[key]
  if (known instanceof Map) return known as Map<string, CommandLanguage>
  const created = new Map<string, CommandLanguage>()
  shared[key] = created
  return created
}

/** The languages that commands execute. A definition of this process replaces a shipped one. */
export function commandLanguages(): readonly Language[] {
  const others = shipped.filter(({ name }) => !definitions.has(name))
  return [...others, ...definitions.values()].map(commandLanguage)
}

const definitionKeys: readonly string[] = [
  'name',
  'title',
  'run',
  'file',
  'version',
] satisfies (keyof CommandLanguage)[]

/**
 * Adds a definition to those of this process. See `defineLanguage`.
 *
 * @param reserved names of languages with a runner, and of services
 */
export function addDefinition(definition: CommandLanguage, reserved: readonly string[]): void {
  const { name, title = name, run, file, version } = definition
  const invalid = (problem: string) => new PtcError('CONFIG_INVALID', `language ${JSON.stringify(name)}: ${problem}`)
  if (!isMatch(name, /^[a-z][a-z0-9+#-]{0,30}$/)) throw invalid('name must be a short word in lower case')
  if (reserved.includes(name)) throw invalid('the name is taken')
  const unknown = describeUnknownKeys(definition, definitionKeys)
  if (unknown !== undefined) throw invalid(unknown)
  if (!isMatch(title, /^[^\n`]{1,40}$/)) throw invalid('title must be a short text')
  if (!isMatch(file, /^[A-Za-z0-9_-]{1,40}\.[A-Za-z0-9]{1,10}$/))
    throw invalid('file must be a name with an ending, such as cell.rb')
  checkCommand(run, 'run', invalid)
  if (version !== undefined) checkCommand(version, 'version', invalid)
  if (!run.some((word) => word.includes('{file}'))) throw invalid('run must contain {file}')
  const known = definitions.get(name)
  const sealed = Object.freeze({
    name,
    title,
    run: Object.freeze([...run]),
    file,
    ...(version && { version: Object.freeze([...version]) }),
  })
  if (known && canonicalJson({ ...known }) !== canonicalJson({ ...sealed }))
    throw invalid('another definition has this name')
  definitions.set(name, sealed)
}

const maxWords = 50

function checkCommand(words: unknown, option: string, invalid: (problem: string) => PtcError): void {
  if (!Array.isArray(words) || !words.every((word) => isMatch(word, /^[^\0]{1,1000}$/s)) || words.length > maxWords)
    throw invalid(`${option} must be a list of words`)
  if (words[0]?.startsWith('/') !== true)
    throw invalid(`${option} must begin with the path of a program, such as /usr/bin/ruby`)
}

function isMatch(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value)
}
