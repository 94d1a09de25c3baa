import type { JsonObject } from '../../../src/common/json/json.js'
import { listOperations, OperationReader } from '../../../src/tools/sources/openapi/document/read-operations.js'
import { References } from '../../../src/tools/sources/openapi/document/references.js'
import type { Operation } from '../../../src/tools/sources/openapi/operation.js'
import { openApiOption } from '../../../src/tools/sources/openapi/options.js'
import { toTool } from '../../../src/tools/sources/openapi/to-tool.js'
import type { Tool } from '../../../src/index.js'

interface ReadOptions {
  readonly url?: string
  readonly options?: Readonly<Record<string, unknown>>
}

/** The operations of a document by their ids. Throws what reading one of them throws. */
export function readDocument(
  root: JsonObject,
  { url, options = {} }: ReadOptions = {},
): Readonly<Record<string, Operation>> {
  const source = openApiOption.parse({ api: { document: 'x', ...options } })['api']
  if (source === undefined) throw new Error('there is no source')
  const document = { root: { openapi: '3.1.0', ...root }, url: new URL(url ?? 'https://api.example.com/openapi.json') }
  const references = new References(document.root)
  const reader = new OperationReader(document, references, source)
  return Object.fromEntries(listOperations(references).map((each) => [each.id, reader.read(each)]))
}

/** The tool of an operation, as it is checked and documented. */
export function toolOf(operation: Operation | undefined): Tool {
  const source = openApiOption.parse({ api: { document: 'x' } })['api']
  if (source === undefined || operation === undefined) throw new Error('there is no operation')
  const { tool, note } = toTool(operation, 'api__tool', source)
  if (note !== undefined) throw new Error(note)
  return tool
}

/** Paths of a document with one operation `call`, which sends a body of the schema. */
export function postOf(schema: JsonObject, more: JsonObject = {}): JsonObject {
  const content = { 'application/json': { schema } }
  return { '/things': { post: { operationId: 'call', requestBody: { required: true, content }, ...more } } }
}
