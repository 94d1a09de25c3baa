import { Command, InvalidArgumentError, Option } from 'commander'
import { PtcError } from '../../common/errors.js'
import type { LogLevel } from '../../worker/index.js'
import { type Role, roles } from '../../common/names.js'
import { languageNameOf } from '../../common/run/language-names.js'
import { isListenAddress } from '../../platform/listen-address.js'
import { efforts, type Thinking } from '../../common/agent/model-settings.js'
import { languages } from '../../languages/index.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import { type TaskMode, taskModes } from '../../common/agent/task-modes.js'

export interface ConfigOption {
  readonly config?: string
}

export interface SandboxOption {
  readonly sandbox?: BackendChoice
}

export interface JsonOption {
  readonly json?: boolean
}

export function configOption(): Option {
  return new Option('-c, --config <file>', 'configuration file (default: ptc.config.ts in this folder or one above)')
}

/** @param others sandboxes that only some commands accept */
export function sandboxOption(...others: readonly string[]): Option {
  return new Option('-s, --sandbox <backend>', 'where code runs').choices(['auto', 'docker', 'wasm', ...others])
}

/** @param text what the option is without a value */
export function languageOption(text = 'that of its agent or the configuration'): Option {
  const one = languages.map(({ name }) => name).join(', ')
  const description = `language of the code: ${one}, or several: a,b (default: ${text})`
  // A configuration may define others, so that the names are checked later.
  return new Option('--language <names>', description).argParser(languageNameOf)
}

export function idOption(): Option {
  return new Option('--id <id>', 'id of the run (default: generated); a completed run is not repeated')
}

/** The options of runs and conversations: {@link AgentOptions} and {@link OverrideOptions}. */
export function agentRunOptions(): readonly Option[] {
  return [...agentOptions(), ...boundOptions(), ...dataOptions()]
}

/** The options for {@link AgentOptions}. */
function agentOptions(): readonly Option[] {
  return [
    new Option('-a, --agent <name>', 'agent of the configuration (default: all tools)'),
    new Option('-m, --model <names>', 'model, and its fallbacks: a,b (default: as configured)').argParser(parseNames),
    new Option('--temperature <number>', 'temperature of the model, from 0 to 2').argParser(parseTemperature),
    new Option('--thinking <mode>', 'thinking of the model: adaptive, off, or a number of tokens').argParser(
      parseThinking,
    ),
    new Option('--effort <level>', 'effort of the model').choices(efforts),
    languageOption(),
    new Option('--session <name>', 'named session that executes the code (default: its own sandbox)'),
    new Option('--skill <name>', 'skill that is active from the start; may be repeated').argParser(appendText),
    new Option('--attach <file>', 'an image or a PDF for the question; may be repeated').argParser(appendText),
    uploadOption(),
  ]
}

export function uploadOption(): Option {
  return new Option('--upload <file>', 'file for the code, in /tmp/in; may be repeated').argParser(appendText)
}

/** `conversation` is the workflow `conversation`, which `ptc chat` starts too. */
export type ModeChoice = TaskMode | 'conversation'

export function modeOption(): Option {
  const text = 'how the agent works on the question (default: that of its agent or the configuration)'
  return new Option('--mode <mode>', text).choices([...taskModes, 'conversation'])
}

export function usageError(command: string, message: string): PtcError {
  return new PtcError('RUN_INPUT_INVALID', message, { hint: `(see \`ptc ${command} --help\`)` })
}

/** A command of a group such as `ptc sessions`. @param json what `--json` prints */
export function subcommand(name: string, description: string, json: string): Command {
  return new Command(name).description(description).addOption(configOption()).addOption(jsonOption(json))
}

export function jsonOption(what: string): Option {
  return new Option('--json', `print ${what} as JSON`)
}

export const logLevels = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const satisfies readonly LogLevel[]

/** Upper and lower case are the same: `info` is `INFO`. */
export function logLevelOption(): Option {
  return new Option('--log-level <level>', `minimum level of the log on stderr: ${logLevels.join(', ')}`).argParser(
    parseLogLevel,
  )
}

/** Parser for commander. */
export function parseLogLevel(text: string): LogLevel {
  const level = logLevels.find((each) => each === text.toUpperCase())
  if (level !== undefined) return level
  throw new InvalidArgumentError(`It must be one of ${logLevels.join(', ')}.`)
}

/** Parser for commander: a whole number from 1 to `maximum`. */
export function integerUpTo(maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= 1 && value <= maximum) return value
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${maximum}.`)
  }
}

/** The options for the limits and permissions of {@link OverrideOptions}. */
export function boundOptions(): readonly Option[] {
  return [
    new Option('-t, --tools <names>', 'the only tools of the run: a,b').argParser(parseNames),
    new Option('-l, --limits <limits>', 'limits of the run: turns=5,cellSeconds=30').argParser(parseLimits),
  ]
}

/** The options for the data of {@link OverrideOptions}, which code or tools get. */
export function dataOptions(): readonly Option[] {
  return [
    new Option('--input <file-or-json>', 'data for the code, in its variable input_data'),
    new Option('--context <file-or-json>', 'context for every tool, such as user and tenant: a JSON object'),
  ]
}

/** Parser for commander: `a,b`. */
function parseNames(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim())
}

/** Parser for commander: an option that may be repeated. */
function appendText(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text]
}

/** Parser for commander: a number from 0 to 2. */
export function parseTemperature(text: string): number {
  const value = Number(text)
  if (/^[\d.]+$/.test(text) && value >= 0 && value <= 2) return value
  throw new InvalidArgumentError('It must be a number from 0 to 2.')
}

/** Parser for commander: `adaptive`, `off` or a number of tokens. */
export function parseThinking(text: string): Thinking {
  if (text === 'adaptive' || text === 'off') return text
  if (/^\d+$/.test(text) && Number(text) >= 1_024) return { budgetTokens: Number(text) }
  throw new InvalidArgumentError('It must be adaptive, off, or a number of tokens, at least 1024.')
}

/** Parser for commander: `turns=5,cellSeconds=30`. The option may be repeated. */
export function parseLimits(
  text: string,
  earlier: Readonly<Record<string, number>> = {},
): Readonly<Record<string, number>> {
  const limits = text.split(',').map((limit) => {
    const [, name = '', value = ''] = /^\s*(\w+)=([\d._]+)\s*$/.exec(limit) ?? []
    const number = Number(value.replaceAll('_', ''))
    if (name !== '' && value !== '' && Number.isFinite(number)) return [name, number] as const
    throw new InvalidArgumentError('It must be NAME=NUMBER, such as turns=5. docs/reference/limits.md has all names.')
  })
  return { ...earlier, ...Object.fromEntries(limits) }
}

/** Parser for commander: Temporal's id of one run. */
export function parseRunId(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text
  throw new InvalidArgumentError('It must be a run id: a UUID, as `ptc show ID --json` has them in runIds.')
}

/** Parser for commander: an IP address and a port. */
export function parseAddress(text: string): string {
  if (isListenAddress(text)) return text
  throw new InvalidArgumentError('It must be an IP address and a port, such as 127.0.0.1:9464, or :9464.')
}

/** Parser for commander: an origin. The option may be repeated. */
export function parseOrigin(text: string, earlier: readonly string[]): readonly string[] {
  const { origin } = URL.canParse(text) ? new URL(text) : { origin: 'null' }
  if (origin === 'null') throw new InvalidArgumentError('It must be an origin, such as https://app.example.com.')
  return [...earlier, origin]
}

/** Parser for commander: roles such as `workflow,tools`, each at most once. */
export function parseRoles(text: string): readonly Role[] {
  const names = text.split(',').map((name) => name.trim())
  const known = roles.filter((role) => names.includes(role))
  const unknown = names.filter((name) => !known.some((role) => role === name))
  if (unknown.length === 0) return known
  throw new InvalidArgumentError(
    `There is no role ${unknown.map((name) => `"${name}"`).join(', ')}; there are ${roles.join(', ')}.`,
  )
}

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** Longest time between storing a value and the event that refers to it. */
const minimumMs = units.h

/** Parser for commander: an age such as `90m`, `12h` or `7d`, in milliseconds; at least an hour. */
export function parseAge(text: string): number {
  const ms = parseDuration(text)
  if (ms >= minimumMs) return ms
  throw new InvalidArgumentError('It must be at least 1h: no history may refer yet to a value that was just stored.')
}

/** Parser for commander: a time such as `90m`, `12h` or `7d`, in milliseconds. */
export function parseDuration(text: string): number {
  const [, number = '', unit = 'h'] = /^(\d+(?:\.\d+)?)([mhd])$/.exec(text) ?? []
  if (number === '') throw new InvalidArgumentError('It must be an age such as 90m, 12h or 7d.')
  return Number(number) * units[unit as keyof typeof units]
}
