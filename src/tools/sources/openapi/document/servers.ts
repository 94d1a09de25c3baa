import { isJsonObject, type JsonObject, type JsonValue } from '../../../../common/json/json.js'

interface ServerOptions {
  /** The URL of the document. */
  readonly documentUrl: URL
  /** Values of the configuration, by name of the variable. */
  readonly variables: Readonly<Record<string, string>>
}

/** The servers of a document without servers. */
const ownServer: readonly JsonValue[] = [{ url: '/' }]

/**
 * The base URL of an operation: the first server of the operation, else of its path, else of the document. It has no
 * slash at its end.
 *
 * @throws Error for a server that is not a complete URL
 */
export function baseUrlOf(
  levels: readonly (JsonValue | undefined)[],
  { documentUrl, variables }: ServerOptions,
): string {
  const servers = levels.find((level): level is readonly JsonValue[] => Array.isArray(level) && level.length > 0)
  const [server] = servers ?? ownServer
  const template = isJsonObject(server) ? server['url'] : undefined
  if (!isJsonObject(server) || typeof template !== 'string') throw new Error('its server has no URL')
  const filled = fill(template, server['variables'], variables)
  if (!URL.canParse(filled, documentUrl.href)) throw new Error(`its server ${quote(filled)} is not a URL`)
  const url = new URL(filled, documentUrl)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    const isRelative = url.protocol === 'file:'
    throw new Error(`its server ${quote(filled)} is ${isRelative ? 'relative to a file' : 'not http'}: set baseUrl`)
  }
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '')
    throw new Error(`its server ${quote(filled)} has a user, a query or a fragment`)
  return withoutSlash(url.href)
}

export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

function fill(template: string, declared: JsonValue | undefined, configured: ServerOptions['variables']): string {
  return template.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = isJsonObject(declared) && Object.hasOwn(declared, name) ? declared[name] : undefined
    const { default: fallback, enum: choices }: JsonObject = isJsonObject(variable) ? variable : {}
    const value = Object.hasOwn(configured, name) ? configured[name] : fallback
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new Error(`variable ${quote(name)} of its server has no value: set serverVariables`)
    if (Array.isArray(choices) && choices.length > 0 && !choices.map(String).includes(String(value)))
      throw new Error(
        `variable ${quote(name)} of its server must be one of ${choices.map(String).join(', ').slice(0, 300)}`,
      )
    return String(value)
  })
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 200))
}
