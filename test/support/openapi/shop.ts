import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { temporaryFolder } from '../folders.js'
import { callTool, listOpenApiTools } from './openapi-tools.js'
import { RecordingServer } from './recording-server.js'

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const text = { type: 'string' }
const param = (location: string, name: string, more: object = {}) => ({ in: location, name, schema: text, ...more })

/** An API with one operation for each thing that a request may have. */
export const shop = {
  openapi: '3.0.3',
  info: { title: 'Shop', version: '1' },
  paths: {
    '/orders/{id}': {
      parameters: [param('path', 'id', { required: true })],
      get: {
        operationId: 'orders/get',
        summary: 'Gets an order',
        parameters: [
          param('query', 'id', { schema: { type: 'array', items: text } }),
          param('header', 'id'),
          param('cookie', 'id'),
          param('query', 'filter', { style: 'deepObject', schema: { type: 'object', additionalProperties: text } }),
        ],
      },
      put: { operationId: 'orders/put', requestBody: json({ type: 'object', properties: { id: text } }) },
      delete: { operationId: 'orders/delete', responses: { 204: { description: 'gone' } } },
    },
    '/orders': {
      post: { operationId: 'orders/create', requestBody: json({ type: 'array', items: { type: 'integer' } }) },
      patch: {
        operationId: 'orders/upload',
        requestBody: {
          content: {
            'multipart/form-data': {
              schema: { type: 'object', properties: { file: { ...text, format: 'binary' }, note: text } },
            },
          },
        },
      },
    },
  },
  components: {
    securitySchemes: {
      token: { type: 'http', scheme: 'bearer' },
      password: { type: 'http', scheme: 'basic' },
      key: { type: 'apiKey', in: 'query', name: 'api_key' },
    },
  },
}

/** Lists the operations of a document, on a server of the test. */
export async function listShop(options: object = {}, document: object = shop) {
  const server = await RecordingServer.start()
  const file = join(await temporaryFolder(), 'openapi.yaml')
  await writeFile(file, stringify(document))
  const { tools } = await listOpenApiTools('shop', { document: file, baseUrl: server.url, ...options })
  return { server, tools, call: (name: string, args: object = {}) => callTool(tools, `shop__${name}`, { ...args }) }
}
