import { InvalidArgumentError, Option } from 'commander'
import { type Role, roles } from '../../common/names.js'
import { isListenAddress } from '../../worker/health/listen-address.js'
import type { BackendChoice } from '../../common/run-config.js'

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
  return new Option('-c, --config <file>', 'configuration (default: ptc.config.ts in this folder or one above)')
}

export function sandboxOption(): Option {
  return new Option('-s, --sandbox <backend>', 'where code runs').choices(['auto', 'docker', 'wasm'])
}

export function jsonOption(what: string): Option {
  return new Option('--json', `print ${what} as JSON`)
}

/** For commander: a whole number from 1 to `maximum`. */
export function integerUpTo(maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= 1 && value <= maximum) return value
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${maximum}.`)
  }
}

/** For commander: Temporal's id of one run. */
export function parseRunId(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text
  throw new InvalidArgumentError('It must be a run id: a UUID, as `ptc show ID --json` has them in runIds.')
}

/** For commander: an IP address and a port. */
export function parseAddress(text: string): string {
  if (isListenAddress(text)) return text
  throw new InvalidArgumentError('It must be an IP address and a port, such as 127.0.0.1:9464, or :9464.')
}

/** For commander: roles as `workflow,tools`, each once. */
export function parseRoles(text: string): readonly Role[] {
  const names = text.split(',').map((name) => name.trim())
  const known = roles.filter((role) => names.includes(role))
  const unknown = names.filter((name) => !known.some((role) => role === name))
  if (unknown.length === 0) return known
  throw new InvalidArgumentError(
    `There is no role ${unknown.map((name) => `"${name}"`).join(', ')}; there are ${roles.join(', ')}.`,
  )
}
