import type { z } from 'zod'
import { defined } from '../common/defined.js'
import { messageOf, PtcError } from '../common/errors.js'
import type { JsonObject } from '../common/json/json.js'
import { languageNameOf } from '../common/run/language-names.js'
import { type TaskMode, taskModes } from '../common/agent/task-modes.js'
import { heldSessionPattern, maxHeldSessions } from '../common/session/held-sessions.js'
import { describeUnknownKeys } from '../common/text/unknown-keys.js'
import { problemOfLanguage } from '../languages/index.js'
import { checkSchema } from '../tools/validation/check-schema.js'
import { fromJsonSchema, toJsonSchema } from '../tools/validation/json-schema.js'
import { type Agent, type AgentDefinition, type AgentSession, sealAgent } from './agent.js'

const namePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

const definitionKeys: readonly string[] = [
  'name',
  'instructions',
  'description',
  'tools',
  'skills',
  'agents',
  'sandbox',
  'language',
  'files',
  'environment',
  'image',
  'packages',
  'sessions',
  'model',
  'temperature',
  'thinking',
  'effort',
  'serverTools',
  'output',
  'mode',
  'doneCheck',
  'limits',
  'budget',
  'network',
] satisfies readonly (keyof AgentDefinition)[]

/**
 * Defines an agent: instructions, tools, model, limits and the schema of the answer. Runs choose it by its name. A run
 * keeps the definition that it began with.
 *
 * @throws PtcError CONFIG_INVALID. `createAgents` checks what needs the whole configuration: tools, limits
 */
export function defineAgent<Output extends z.ZodType = z.ZodUndefined>(
  definition: AgentDefinition<Output>,
): Agent<Output> {
  const { name, instructions, description, tools, skills, agents = [], sandbox = 'own', language, model } = definition
  const { files } = definition
  const { image, packages } = definition
  const { temperature, thinking, effort, serverTools, output, mode, doneCheck, limits = {}, budget = {} } = definition
  const { environment, network, sessions = [] } = definition
  if (typeof name !== 'string' || !namePattern.test(name)) {
    throw new PtcError('CONFIG_INVALID', `${JSON.stringify(name)} can't be the name of an agent`, {
      hint: 'A name has 1 to 64 letters, digits, _ and -, and begins with a letter or _.',
    })
  }
  const invalid = (message: string, hint?: string) =>
    new PtcError('CONFIG_INVALID', `agent ${name}: ${message}`, hint === undefined ? {} : { hint })
  const problem = describeUnknownKeys(definition, definitionKeys)
  if (problem !== undefined) throw invalid(problem, `An agent has the keys ${definitionKeys.join(', ')}.`)
  if (typeof instructions !== 'string' || instructions.trim() === '') {
    throw invalid('instructions are missing', 'Describe the purpose of the agent and how it works.')
  }
  if (model !== undefined && !isModel(model)) throw invalid('model must be a model id, or a list of them')
  if (temperature !== undefined && !isTemperature(temperature))
    throw invalid('temperature must be a number from 0 to 2')
  if (typeof limits !== 'object' || limits === null) throw invalid('limits must be an object: { turns: 10 }')
  if (typeof budget !== 'object' || budget === null) throw invalid('budget must be an object: { costUsd: 2 }')
  if (network !== undefined && !isNetwork(network)) throw invalid(networkForm)
  if (description !== undefined && (typeof description !== 'string' || description.trim() === ''))
    throw invalid('description must be a text')
  if (sandbox !== 'own' && sandbox !== 'parent')
    throw invalid(`sandbox must be 'own' or 'parent', not ${JSON.stringify(sandbox)}`)
  const hasImage = image !== undefined || packages !== undefined
  if (hasImage && sandbox === 'parent') throw invalid("image and packages need sandbox: 'own'")
  const languageProblem = language === undefined ? undefined : problemOfLanguage(language)
  if (languageProblem !== undefined) throw invalid(languageProblem)
  if (files !== undefined && typeof files !== 'boolean') throw invalid('files must be true or false')
  if (mode !== undefined && !taskModes.includes(mode))
    throw invalid(`there is no mode ${JSON.stringify(mode)}`, `There are: ${taskModes.join(', ')}.`)
  if (doneCheck !== undefined) checkDoneCheck(doneCheck, mode, invalid)
  if (tools !== undefined) checkNames('tools', tools, invalid)
  if (skills !== undefined && !(Array.isArray(skills) && skills.every((each) => typeof each === 'string')))
    throw invalid('skills must be an array of names')
  checkNames('agents', agents, invalid)
  if (output !== undefined) checkSchema('output', output, invalid)
  return sealAgent<Agent<Output>>({
    name,
    instructions: instructions.trim(),
    description: description?.trim(),
    tools: tools && Object.freeze([...tools]),
    skills: skills && Object.freeze([...skills]),
    agents: Object.freeze([...agents]),
    sandbox,
    language: language && languageNameOf(language),
    files,
    environment,
    image: hasImage ? Object.freeze(defined({ image, packages })) : undefined,
    sessions: sessionsOf(sessions, invalid),
    model,
    settings: defined({ temperature, thinking, effort }),
    serverTools,
    mode,
    doneCheck: typeof doneCheck === 'object' ? doneCheck.name : doneCheck,
    limits,
    budget,
    network,
    output,
    outputSchema: output && schemaOf(output, invalid),
  })
}

const sessionKeys: readonly string[] = [
  'language',
  'image',
  'packages',
  'network',
] satisfies readonly (keyof AgentSession)[]

/** Images and networks are checked with the configuration, as those of the agent are. */
function sessionsOf(given: unknown, invalid: InvalidError): Agent['sessions'] {
  if (typeof given !== 'object' || given === null)
    throw invalid("sessions must be a list of names, or an object: { etl: { image: 'data' } }")
  const entries = Array.isArray(given) ? given.map((each: unknown) => [each, {}] as const) : Object.entries(given)
  if (entries.length > maxHeldSessions) throw invalid(`it has ${entries.length} sessions; at most ${maxHeldSessions}`)
  const names = entries.map(([name]) => name)
  return Object.freeze(
    entries.map(([name, option], index) => {
      if (typeof name !== 'string' || !heldSessionPattern.test(name))
        throw invalid(
          `${JSON.stringify(name)} can't be the name of a session`,
          'A name has 1 to 40 letters, digits, _ and -, and begins with a letter.',
        )
      if (names.indexOf(name) !== index) throw invalid(`two sessions are named ${name}`)
      return sessionOf(name, option, (problem, hint) => invalid(`session ${name} ${problem}`, hint))
    }),
  )
}

function sessionOf(name: string, option: unknown, invalid: InvalidError): Agent['sessions'][number] {
  if (typeof option !== 'object' || option === null) throw invalid('must be an object: {}')
  const problem = describeUnknownKeys(option, sessionKeys)
  if (problem !== undefined) throw invalid(`has a problem: ${problem}`, `It has the keys ${sessionKeys.join(', ')}.`)
  const { language, image, packages, network } = option as AgentSession
  const languageProblem = language === undefined ? undefined : problemOfLanguage(language)
  if (languageProblem !== undefined) throw invalid(`has a problem: ${languageProblem}`)
  if (network !== undefined && !isNetwork(network)) throw invalid(`has a problem: ${networkForm}`)
  const hasImage = image !== undefined || packages !== undefined
  return Object.freeze({
    name,
    language: language && languageNameOf(language),
    image: hasImage ? Object.freeze(defined({ image, packages })) : undefined,
    network,
  })
}

const networkForm = "network must be an object: { allow: ['api.example.com'] }, or false"

function isNetwork(network: unknown): boolean {
  return network === false || (typeof network === 'object' && network !== null)
}

function isModel(model: unknown): boolean {
  const names: readonly unknown[] = [model].flat()
  return names.length > 0 && names.every((name) => typeof name === 'string' && name !== '')
}

function isTemperature(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 2
}

function checkDoneCheck(doneCheck: unknown, mode: TaskMode | undefined, invalid: InvalidError): void {
  if (!isNamed(doneCheck)) throw invalid('doneCheck must be a tool, or its name')
  if (mode !== 'autonomous') throw invalid("doneCheck needs mode: 'autonomous'")
}

function isNamed(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null && 'name' in value)
}

type InvalidError = (message: string, hint?: string) => PtcError

function checkNames(field: 'tools' | 'agents', given: unknown, invalid: InvalidError): void {
  if (Array.isArray(given) && given.every(isNamed)) return
  throw invalid(`${field} must be an array of ${field}, or of their names`)
}

function schemaOf(output: z.ZodType, invalid: InvalidError): JsonObject {
  try {
    const schema = toJsonSchema(output, 'input')
    fromJsonSchema(schema, { checksFormats: true })
    return schema
  } catch (cause) {
    throw invalid(
      `output can't be checked as JSON Schema: ${messageOf(cause)}`,
      'Use types that JSON has (a date as z.iso.datetime()).',
    )
  }
}
