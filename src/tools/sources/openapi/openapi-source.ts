/*
 * APIs with an OpenAPI document as sources of tools: each operation is a tool of runs, with identity, approval, limits
 * and audit.
 *
 * Owns: reading a document (`document/`), the requests of calls and what their responses mean (`request/`), and the
 * mapping of operations to tools.
 * Boundary: the document is from somebody else, and so are responses. `../network/` sends requests, and decides which
 * addresses are reached.
 *
 * Invariants:
 * 1. Arguments can't choose the origin or the operation: the origin is that of the document's servers or of `baseUrl`,
 *    and the path of a request is its template with each argument within its own segment.
 * 2. No argument is a credential. Credentials are read for each attempt, go only to this origin, those of a client of
 *    OAuth only to its token URL, and are replaced in results and errors.
 * 3. A host of the document has a public address. Only `baseUrl` may name a private one.
 * 4. A request is sent once for each attempt. Only a status of 2xx is a success. A `ToolError` is thrown only when the
 *    call had no effect.
 * 5. What document and responses have is bounded before it is read. An operation that can't be called is left out with
 *    its reason, and the others stay.
 * 6. The arguments of parameters and body are apart: two parameters of one name are two arguments.
 */
import { estimateTokens } from '../../../common/agent/context-window.js'
import { messageOf, PtcError } from '../../../common/errors.js'
import { pluralize, toOneLine, truncateEnd } from '../../../common/text/text.js'
import { type Credentials, noRun } from '../../credentials/credentials.js'
import type { ToolLog } from '../../tool-context.js'
import type { Tool } from '../../tool.js'
import { interruptAfter } from '../../validation/time-limit.js'
import { credentialNamesIn, withCredentials } from '../credential-references.js'
import { sourceToolNames } from '../source-tool-names.js'
import type { ListOptions, ToolSource } from '../tool-source.js'
import { listOperations, OperationReader, problemOf } from './document/read-operations.js'
import { References } from './document/references.js'
import { selectOperations } from './document/select-operations.js'
import { credentialsOfCalls, type ParsedOpenApiSource } from './options.js'
import { tokenUrlOf } from './request/credentials.js'
import { toTool } from './to-tool.js'

interface OpenApiSourceOptions {
  readonly name: string
  readonly source: ParsedOpenApiSource
  readonly credentials: Credentials
  /** Base of a relative path of a document. */
  readonly folder: string
}

/** The operations of one API. */
export function openApiSource(options: OpenApiSourceOptions): ToolSource {
  return { name: `OpenAPI ${options.name}`, list: (listOptions) => listTools(options, listOptions) }
}

/** Milliseconds of processor time for one operation. */
const maxReadMs = 2_000

/** Lines about operations that are logged. */
const maxProblems = 20

async function listTools(
  { name, source, credentials, folder }: OpenApiSourceOptions,
  { signal, log }: ListOptions,
): Promise<readonly Tool[]> {
  // Most workers have no such document, and the parser of YAML is large.
  const { loadDocument } = await import('./document/load-document.js')
  const document = await loadDocument({
    document: source.document,
    folder,
    headers: await documentHeaders(name, source, credentials, signal),
    signal,
  })
  const references = new References(document.root)
  const reader = new OperationReader(document, references, source)
  checkSchemes(name, source, reader)
  const listed = listOperations(references)
  const selected = selectOperations(name, listed, source)
  const names = sourceToolNames(
    name,
    listed.map(({ key, id }) => ({ key, name: id })),
  )
  const problems = document.problems.map((problem) => `can't read a file: ${problem}`)
  const tools: Tool[] = []
  for (const each of selected) {
    signal.throwIfAborted()
    try {
      const { tool, note } = interruptAfter(
        () => toTool(checkTransport(reader.read(each), source), names.get(each.key) ?? '', source),
        maxReadMs,
      )
      tools.push(tool)
      if (note !== undefined) problems.push(note)
    } catch (thrown) {
      problems.push(`left out ${problemOf(each, thrown)}`)
    }
    // Lets the signal and other sources go on: a document may have thousands of operations.
    if (tools.length % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  report(name, problems, log)
  reportCredentials(name, source, reader.withoutCredentials, log)
  if (tools.length > 0 || selected.length === 0) {
    log.info(`OpenAPI ${name}: ${describeCost(tools)}`)
    return tools
  }
  throw new Error(`no operation can be called: ${problems[0] ?? ''}`)
}

async function documentHeaders(
  name: string,
  { documentHeaders: templates }: ParsedOpenApiSource,
  credentials: Credentials,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const names = credentialNamesIn(Object.values(templates))
  const { values } = await credentials.resolve(names, { tool: `OpenAPI ${name}`, ...noRun }, 1, signal)
  return withCredentials(templates, values)
}

/** @throws PtcError CONFIG_INVALID for a credential of a scheme that the document does not have, or that can't be used */
function checkSchemes(name: string, { credentials }: ParsedOpenApiSource, { schemes }: OperationReader): void {
  for (const [scheme, value] of Object.entries(credentials)) {
    if (schemes.known.has(scheme)) {
      if (typeof value !== 'string')
        checkClient(name, scheme, () => tokenUrlOf(schemes.known.get(scheme), value.tokenUrl))
      continue
    }
    const reason = schemes.unsupported.get(scheme)
    const known = [...schemes.known.keys()].join(', ')
    const problem = reason === undefined ? 'is not in the document' : `can't be used: ${reason}`
    throw new PtcError('CONFIG_INVALID', `OpenAPI ${name}: security scheme ${JSON.stringify(scheme)} ${problem}`, {
      hint: known === '' ? 'Set headers: the document has no scheme.' : `The document has: ${known}.`,
    })
  }
}

function checkClient(name: string, scheme: string, check: () => URL): void {
  try {
    check()
  } catch (thrown) {
    const problem = `security scheme ${JSON.stringify(scheme)} can't be used with an OAuth client`
    throw new PtcError('CONFIG_INVALID', `OpenAPI ${name}: ${problem}: ${messageOf(thrown)}`)
  }
}

/** Credentials go over an open connection only to a host that the configuration names. */
function checkTransport<Read extends { readonly baseUrl: string }>(operation: Read, source: ParsedOpenApiSource): Read {
  const hasCredentials = credentialsOfCalls(source).length > 0
  if (source.baseUrl !== undefined || operation.baseUrl.startsWith('https:') || !hasCredentials) return operation
  throw new Error(`its server ${operation.baseUrl} would get credentials without encryption: set baseUrl`)
}

function report(name: string, problems: readonly string[], log: ToolLog): void {
  for (const problem of problems.slice(0, maxProblems))
    log.warn(`OpenAPI ${name}: ${truncateEnd(toOneLine(problem), 500)}`)
  const others = problems.length - maxProblems
  if (others > 0) log.warn(`OpenAPI ${name}: ${pluralize(others, 'more problem')} of this kind`)
}

function reportCredentials(
  name: string,
  { headers }: ParsedOpenApiSource,
  operations: readonly string[],
  log: ToolLog,
): void {
  // The headers may have the credentials.
  if (operations.length === 0 || Object.keys(headers).length > 0) return
  const shown = operations.slice(0, 3).join(', ')
  log.warn(
    `OpenAPI ${name}: ${pluralize(operations.length, 'operation')} need credentials that the configuration does not ` +
      `have, such as ${shown}`,
  )
}

/** How many tools there are, and what they would cost in every request without a search. */
function describeCost(tools: readonly Tool[]): string {
  const characters = tools.reduce(
    (sum, { name, description, inputSchema }) =>
      sum + name.length + description.length + JSON.stringify(inputSchema).length,
    0,
  )
  const tokens = estimateTokens(characters).toLocaleString('en-US')
  return `${pluralize(tools.length, 'tool')}; about ${tokens} tokens of each request if all were documented in it`
}
