import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { temporaryFolder } from '../../support/folders.js'
import { listOpenApiTools } from '../../support/openapi/openapi-tools.js'
import { RecordingServer } from '../../support/openapi/recording-server.js'
import { listShop, shop } from '../../support/openapi/shop.js'
import { noLog } from '../../../src/tools/sources/tool-source.js'

describe('a document', () => {
  it('is read from a URL, with a credential, and is the base of its servers', async () => {
    const server = await RecordingServer.start(({ url }, response) =>
      url === '/spec/openapi.json'
        ? void response.end(JSON.stringify({ ...shop, servers: [{ url: '../v1' }] }))
        : void response.writeHead(302, { location: '/spec/openapi.json' }).end(),
    )
    const { tools } = await listOpenApiTools('shop', {
      document: `${server.url}/latest`,
      documentHeaders: { Authorization: 'token' },
    })
    expect(tools).toHaveLength(5)
    expect(server.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/latest', 'token'],
      ['/spec/openapi.json', 'token'],
    ])
  })

  it('in several files is read from a folder, and nothing outside of it', async () => {
    const [folder, outside] = [await temporaryFolder(), await temporaryFolder()]
    await mkdir(join(folder, 'models'))
    const get = (schema: string) => ({
      operationId: schema.replaceAll(/\W/g, ''),
      requestBody: { content: { 'application/json': { schema: { $ref: schema } } } },
    })
    const paths = { inside: 'models/pet.yaml', above: `../${basename(outside)}/pet.yaml`, link: 'linked/pet.yaml' }
    await writeFile(
      join(folder, 'openapi.yaml'),
      stringify({
        openapi: '3.1.0',
        servers: [{ url: 'https://api.example.com' }],
        paths: Object.fromEntries(
          [...Object.values(paths), 'https://example.com/pet.yaml'].map((schema, n) => [
            `/${n}`,
            { post: get(schema) },
          ]),
        ),
      }),
    )
    for (const place of [join(folder, 'models'), outside]) await writeFile(join(place, 'pet.yaml'), 'type: object')
    await symlink(outside, join(folder, 'linked'))
    const lines: string[] = []
    const log = { ...noLog, warn: (line: string) => void lines.push(line) }
    const { tools } = await listOpenApiTools('api', { document: join(folder, 'openapi.yaml') }, { log })
    expect(tools.map(({ name }) => name)).toEqual(['api__modelspetyaml'])
    expect(lines.filter((line) => line.includes('outside of the folder'))).toHaveLength(2)
    expect(lines.filter((line) => line.includes('refers only to files'))).toHaveLength(1)
  })

  it('in several files is read from one origin, with its credential, and from no other', async () => {
    const other = await RecordingServer.start()
    const parts = { '/a.json': { $ref: './b.json' }, '/b.json': { $ref: `${other.url}/c.json` } }
    const server = await RecordingServer.start(({ url }, response) => {
      const part = parts[url as keyof typeof parts]
      const schema = { $ref: '/a.json' }
      const operation = { operationId: 'call', requestBody: { content: { 'application/json': { schema } } } }
      const root = { ...shop, paths: { ...shop.paths, '/x': { post: operation } } }
      response.end(JSON.stringify(part ?? root))
    })
    const lines: string[] = []
    const log = { ...noLog, warn: (line: string) => void lines.push(line) }
    const options = { document: `${server.url}/openapi.json`, documentHeaders: { Authorization: 'token' } }
    const { tools } = await listOpenApiTools('shop', options, { log })
    expect(tools).toHaveLength(5)
    expect(server.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/openapi.json', 'token'],
      ['/a.json', 'token'],
      ['/b.json', 'token'],
    ])
    expect(other.requests).toEqual([])
    expect(lines.join('\n')).toContain(`it is not of ${server.url}`)
  })

  it.each<[string, (server: RecordingServer, other: RecordingServer) => void, string]>([
    [
      'a status',
      (server) => (server.answer = (_, response) => void response.writeHead(503).end()),
      'answered with HTTP status 503',
    ],
    ['no JSON', (server) => (server.answer = (_, response) => void response.end('{"a": ')), 'it is not JSON'],
    [
      'another place',
      (server, other) => (server.answer = (_, response) => void response.writeHead(302, { location: other.url }).end()),
      'redirects to another place',
    ],
    [
      'too much',
      (server) => (server.answer = (_, response) => void response.end(Buffer.alloc(33 * 1024 * 1024, ' '))),
      'it has more than 33554432 bytes',
    ],
    [
      'a list',
      (server) => (server.answer = (_, response) => void response.end('- a')),
      'neither a JSON object nor a YAML map',
    ],
    [
      'Swagger 2',
      (server) => (server.answer = (_, response) => void response.end('swagger: "2.0"')),
      'convert it to OpenAPI 3',
    ],
  ])('that a server answers with %s stops the worker with the reason', async (_case, prepare, problem) => {
    const [server, other] = [await RecordingServer.start(), await RecordingServer.start()]
    prepare(server, other)
    await expect(listOpenApiTools('shop', { document: server.url })).rejects.toMatchObject({
      code: 'TOOL_SOURCE_FAILED',
      message: expect.stringContaining(problem) as string,
    })
    expect(other.requests).toEqual([])
  })

  it.each([
    ['a: [', 'it is not YAML: line'],
    [
      `a: &a [x, x]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name, index) => `${name}: &${name} [${'*'.concat('abcdefgh'[index] ?? '')},${Array(9).fill(`*${'abcdefgh'[index]}`).join()}]`).join('\n')}`,
      'alias',
    ],
  ])('in YAML that is wrong, or grows, is refused: %#', async (content, problem) => {
    const file = join(await temporaryFolder(), 'openapi.yaml')
    await writeFile(file, content)
    await expect(listOpenApiTools('shop', { document: file })).rejects.toThrow(problem)
  })

  it('leaves out an operation that can not be called, and says so', async () => {
    const lines: string[] = []
    const log = {
      debug: () => undefined,
      info: () => undefined,
      warn: (line: string) => void lines.push(line),
      error: () => undefined,
    }
    const file = join(await temporaryFolder(), 'openapi.yaml')
    const bad = { post: { operationId: 'bad', requestBody: { content: { 'application/xml': {} } } } }
    await writeFile(file, stringify({ ...shop, paths: { ...shop.paths, '/bad': bad } }))
    const { tools } = await listOpenApiTools('shop', { document: file, baseUrl: 'https://api.example.com' }, { log })
    expect(tools).toHaveLength(5)
    expect(lines).toEqual([
      "OpenAPI shop: left out bad: its body has only media types that can't be sent: application/xml",
    ])
  })

  it('names operations of one id apart, whatever their order', async () => {
    const get = { operationId: 'same' }
    const paths = { '/a': { get }, '/b': { get } }
    const names = async (all: object) => (await listShop({}, { ...shop, paths: all })).tools.map(({ name }) => name)
    const listed = await names(paths)
    expect(new Set(listed).size).toBe(2)
    for (const name of listed) expect(name).toMatch(/^shop__same_[0-9a-f]{8}$/)
    expect(await names({ '/b': { get }, '/a': { get } })).toEqual(listed)
  })
})
