import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { readFile } from 'node:fs/promises'
import { OpenAPIBackend, type Document } from 'openapi-backend'
import { describe, expect, it, onTestFinished } from 'vitest'
import { callTool, listOpenApiTools, publishedDocument } from '../../support/openapi/openapi-tools.js'

/**
 * A server that `openapi-backend` makes of a published document: it checks each request by the document, and answers
 * with examples. Returns its URL.
 */
async function mockOf(file: string): Promise<string> {
  const definition = JSON.parse(await readFile(file, 'utf8')) as Document
  const backend = new OpenAPIBackend({
    definition,
    strict: false,
    quick: true,
    ajvOpts: { strict: false, unknownFormats: 'ignore' } as never,
  })
  backend.register('validationFail', ({ validation }) => ({
    status: 400,
    body: { errors: validation.errors },
  }))
  backend.register('notFound', ({ request }) => ({ status: 404, body: { path: request.path } }))
  backend.register('notImplemented', ({ operation, request }) => {
    const { mock } = backend.mockResponseForOperation(operation.operationId ?? '')
    return {
      status: 200,
      body: {
        mock: mock as unknown,
        params: request.params,
        query: request.query,
        cookies: request.cookies,
        body: request.requestBody as unknown,
      },
    }
  })
  await backend.init()
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const body = await text(request)
      const { status, body: result } = (await backend.handleRequest({
        method: request.method ?? '',
        path: (request.url ?? '').split('?')[0] ?? '',
        query: (request.url ?? '').split('?')[1] ?? '',
        headers: request.headers as Record<string, string>,
        body,
      })) as { readonly status: number; readonly body: unknown }
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(result))
    }
    answer().catch((thrown: unknown) => response.writeHead(500).end(String(thrown)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function open(document: string) {
  const file = publishedDocument(document)
  const { tools } = await listOpenApiTools('api', { document: file, baseUrl: await mockOf(file) })
  return { tools, call: (name: string, args: object) => callTool(tools, `api__${name}`, { ...args }) }
}

describe('a server that somebody else makes of a published document accepts our requests', () => {
  it('Petstore, 3.0', async () => {
    const { call } = await open('@readme/oas-examples/3.0/json/petstore.json')
    const pet = { name: 'Rex', photoUrls: ['x'], status: 'available', tags: [{ id: 1, name: 'a' }] }
    expect(await call('addPet', { body: pet })).toMatchObject({ body: pet })
    expect(await call('getPetById', { petId: 7 })).toMatchObject({ params: { petId: '7' } })
    expect(await call('findPetsByStatus', { status: ['available', 'sold'] })).toMatchObject({
      query: { status: ['available', 'sold'] },
    })
    expect(await call('updatePetWithForm', { petId: 7, body: { name: 'Max', status: 'sold' } })).toMatchObject({
      params: { petId: '7' },
    })
    expect(await call('deletePet', { petId: 7 })).toMatchObject({ params: { petId: '7' } })
  })

  it('Petstore, 3.1', async () => {
    const { call } = await open('@readme/oas-examples/3.1/json/petstore.json')
    const pet = { name: 'Rex', photoUrls: ['x'] }
    expect(await call('updatePet', { body: pet })).toMatchObject({ body: pet })
    expect(await call('getUserByName', { username: 'ada l' })).toMatchObject({ params: { username: 'ada l' } })
  })

  it('Train Travel, 3.1', async () => {
    const { call } = await open('@readme/oas-examples/3.1/json/train-travel.json')
    const trip = {
      origin: 'efdbb9d1-02c2-4bc3-afb7-6788d8782b1e',
      destination: 'b2e783e1-c824-4d63-b37a-d8d698862f1d',
      date: '2026-02-01T09:00:00Z',
      bicycles: true,
    }
    expect(await call('get_trips', trip)).toMatchObject({ query: { ...trip, bicycles: 'true' } })
    const booking = { trip_id: '4f4e4e1-c824-4d63-b37a-d8d698862f1d', passenger_name: 'Ada' }
    expect(await call('create_booking', { body: booking })).toMatchObject({ body: booking })
  })
})
