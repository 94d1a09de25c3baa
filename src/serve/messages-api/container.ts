import { randomBytes } from 'node:crypto'
import { digestJson } from '../../common/calls/call-identity.js'
import type { JsonValue } from '../../common/json/json.js'
import { BadRequest } from './errors.js'
import type { MessagesRequest } from './request.js'

/*
 * The id of a container is the name of its conversation. It is random, so that clients can't guess each other's ids
 * (invariant 2), and ends with digests of the initial data of the conversation: a server compares a request with them
 * and needs no state.
 */

/** Milliseconds without a message after which a container is closed. */
export const containerMs = 30 * 24 * 60 * 60 * 1_000

const idPattern = /^container_[0-9a-f]{32}_([0-9a-f]{12})([0-9a-f]{12})$/

export function newContainerId(request: MessagesRequest): string {
  const { tools, settings } = digests(request)
  return `container_${randomBytes(16).toString('hex')}_${tools}${settings}`
}

/**
 * Checks that a request matches the initial data of its container.
 *
 * @throws BadRequest
 */
export function checkContainer(id: string, request: MessagesRequest): void {
  const [, tools, settings] = idPattern.exec(id) ?? []
  if (tools === undefined) throw new BadRequest('container: the text is not the id of a container')
  const own = digests(request)
  const hint = 'Leave out `container` to begin another one, with no variables.'
  if (tools !== own.tools) throw new BadRequest(`tools: the container has other tools. ${hint}`)
  if (settings !== own.settings) {
    const names = 'model, max_tokens, system, temperature, thinking, stop_sequences and output_config'
    throw new BadRequest(`the container began with another value of one of ${names}. ${hint}`)
  }
}

function digests({ options }: MessagesRequest): { readonly tools: string; readonly settings: string } {
  const { clientTools, ...settings } = options
  const digest = (value: unknown): string => digestJson(value as JsonValue).slice(0, 12)
  return { tools: digest(clientTools), settings: digest(settings) }
}
