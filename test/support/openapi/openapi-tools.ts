import { createRequire } from 'node:module'
import type { Tool, ToolContext } from '../../../src/index.js'
import { Credentials } from '../../../src/tools/credentials/credentials.js'
import { openApiSource } from '../../../src/tools/sources/openapi/openapi-source.js'
import { openApiOption } from '../../../src/tools/sources/openapi/options.js'
import { type ListedTools, listTools, noLog } from '../../../src/tools/sources/tool-source.js'

interface OpenApiTestOptions {
  readonly credentials?: Credentials
  /** Base of relative paths. */
  readonly folder?: string
  readonly log?: typeof noLog
}

/** Lists the tools of one API, as a worker does. */
export function listOpenApiTools(
  name: string,
  options: Readonly<Record<string, unknown>>,
  { credentials = new Credentials(), folder = '.', log = noLog }: OpenApiTestOptions = {},
): Promise<ListedTools> {
  // Without members that are undefined: an option that a test takes away.
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  const source = openApiOption.parse({ [name]: given })[name]
  if (source === undefined) throw new Error(`there is no API ${name}`)
  return listTools([openApiSource({ name, source, credentials, folder })], log)
}

/** Makes one attempt of a call, with idempotency key `key-1`. */
export async function callTool(
  tools: readonly Tool[],
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  context: Partial<Pick<ToolContext, 'signal' | 'credential' | 'idempotencyKey'>> = {},
): Promise<unknown> {
  const tool = tools.find((each) => each.name === name)
  if (tool === undefined)
    throw new Error(`there is no tool ${name}; there are ${tools.map((each) => each.name).join()}`)
  const own: Partial<ToolContext> = {
    signal: new AbortController().signal,
    idempotencyKey: 'key-1',
    credential: (each) => `value-of-${each}`,
    ...context,
  }
  return tool.run(tool.input.parse(args), own as ToolContext)
}

/** The path of a published document: a file of a package. */
export function publishedDocument(file: string): string {
  return createRequire(import.meta.url).resolve(file)
}
