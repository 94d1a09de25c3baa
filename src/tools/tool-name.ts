import { digestJson } from '../common/calls/call-identity.js'
import { PtcError } from '../common/errors.js'
import {
  activateSkillTool,
  activityNames,
  compensationActivity,
  deactivateSkillTool,
  executeCodeTool,
  giveUpTool,
  readMoreTool,
  searchToolsTool,
  submitAnswerTool,
  submitPlanTool,
  toolNamePattern,
} from '../common/names.js'
import { defaultLanguage, type Language } from '../languages/index.js'
import { takeStart } from '../common/text/text.js'

/** @throws PtcError TOOL_NAME_INVALID for a value that is not a valid name, or a name that the engine uses */
export function checkToolName(name: unknown): asserts name is string {
  if (typeof name !== 'string') {
    throw new PtcError(
      'TOOL_NAME_INVALID',
      `a tool needs a name, as a string; got ${name === null ? 'null' : typeof name}`,
    )
  }
  const problem = problemOf(name)
  if (problem === undefined) return
  throw new PtcError('TOOL_NAME_INVALID', `tool name ${JSON.stringify(takeStart(name, 100))} ${problem}`, {
    hint: 'For example: get_expenses, or github.list-issues.',
  })
}

const engineActivities: ReadonlySet<string> = new Set(Object.values(activityNames))

function problemOf(name: string): string | undefined {
  if (!toolNamePattern.test(name))
    return 'is not 1 to 64 letters, digits and the characters _ . / -, of which the first is a letter, a digit or _'
  if (name === executeCodeTool) return 'is the name of the code tool itself'
  if (name === readMoreTool) return 'is the name of the tool that reads the rest of a result'
  if (name === searchToolsTool) return 'is the name of the tool that searches the documentation of tools'
  if (name === activateSkillTool || name === deactivateSkillTool) return 'is the name of a tool for skills'
  if (name === submitAnswerTool) return 'is the name of the tool for the answer'
  if (name === giveUpTool) return 'is the name of the tool that gives up'
  if (name === submitPlanTool) return 'is the name of the tool for the plan'
  if (name === '__proto__') return 'can not be the key of an object in JavaScript'
  if (engineActivities.has(name) || name.endsWith(compensationActivity(''))) return 'is an activity of the engine'
  return undefined
}

const maxNameCharacters = 64

/**
 * The names by which code of a language calls tools, by tool name: each is an identifier that hides no keyword, builtin
 * or name of a program. A tool name of this kind is kept. Any other depends only on the set of the names, not on their
 * order.
 */
export function namesForCode(
  names: readonly string[],
  language: Language = defaultLanguage,
): ReadonlyMap<string, string> {
  const taken = new Set(names.filter((name) => isCallable(name, language)))
  const others = names.filter((name) => !taken.has(name))
  const preferred = others.map((name) => toIdentifier(name, language))
  const isUnique = (name: string): boolean =>
    !taken.has(name) && preferred.indexOf(name) === preferred.lastIndexOf(name)
  const uniqueName = (own: string, wanted: string): string => {
    // The digest of a name is longer than the part that makes it unique.
    const digest = digestJson(own)
    for (let characters = 16; characters < digest.length; characters++) {
      const name = `${wanted.slice(0, maxNameCharacters - 1 - characters)}_${digest.slice(0, characters)}`
      if (isUnique(name) && !preferred.includes(name)) return name
    }
    return `tool_${digest}`
  }
  return new Map([
    ...[...taken].map((name) => [name, name] as const),
    ...others.map((own, index) => {
      const wanted = preferred[index] ?? ''
      return [own, isUnique(wanted) ? wanted : uniqueName(own, wanted)] as const
    }),
  ])
}

/** `math.factorial` becomes `math_factorial`, and `sum` becomes `sum_tool`. */
function toIdentifier(name: string, language: Language): string {
  const identifier = name.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '')
  const word = /^[A-Za-z]/.test(identifier) ? identifier : `tool_${identifier}`.replace(/_$/, '')
  const named = word.slice(0, maxNameCharacters)
  return isCallable(named, language) ? named : `${named.slice(0, maxNameCharacters - '_tool'.length)}_tool`
}

/** Whether code of a language may have a function of this name. */
function isCallable(name: string, language: Language): boolean {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name.startsWith('__')) return false
  return !language.isReservedName(name) && !javascriptKeywords.has(name) && !engineTools.has(name)
}

/**
 * Keywords of JavaScript that Python does not reserve. No code has functions of these names, in whichever language: new
 * names in Python would change the tools that open runs have recorded.
 */
const javascriptKeywords: ReadonlySet<string> = new Set(
  `arguments case catch const debugger default delete do enum eval export extends false function implements instanceof
    interface let new null package private protected public static super switch this throw true typeof undefined var void`.split(
    /\s+/,
  ),
)

const engineTools: ReadonlySet<string> = new Set([
  executeCodeTool,
  readMoreTool,
  searchToolsTool,
  submitAnswerTool,
  giveUpTool,
  submitPlanTool,
])
