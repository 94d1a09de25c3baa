import { describe, expect, it } from 'vitest'
import { ToolError } from '../../../src/index.js'
import { parseArguments } from '../../../src/tools/validation/check-arguments.js'
import { RecordingServer } from '../../support/openapi/recording-server.js'
import { listShop, shop } from '../../support/openapi/shop.js'

it('sends each argument to its place', async () => {
  const { server, call } = await listShop()
  const args = { path_id: 'a b', query_id: ['x', 'y'], header_id: 'head', cookie_id: 'c;d', filter: { state: 'open' } }
  expect(await call('orders_get', args)).toEqual({})
  expect(server.last).toMatchObject({
    method: 'GET',
    url: '/orders/a%20b?id=x&id=y&filter%5Bstate%5D=open',
    headers: { id: 'head', cookie: 'id=c%3Bd' },
    body: '',
  })
  await call('orders_put', { id: '1', body: { id: '2' } })
  expect(server.last).toMatchObject({
    method: 'PUT',
    url: '/orders/1',
    body: '{"id":"2"}',
    headers: { 'content-type': 'application/json' },
  })
  await call('orders_create', { body: [1, 2] })
  expect(server.last).toMatchObject({ method: 'POST', url: '/orders', body: '[1,2]' })
  await call('orders_upload', { body: { file: Buffer.from('bytes').toString('base64'), note: 'x' } })
  expect(server.last.body).toMatch(
    /name="file"; filename="file"\r\nContent-Type: application\/octet-stream\r\n\r\nbytes\r\n/,
  )
})

it('arguments of a model are repaired by the schema: an object as its JSON text, and null for an option', async () => {
  const { server, tools, call } = await listShop()
  const tool = tools.find(({ name }) => name === 'shop__orders_get')
  if (tool === undefined) throw new Error('there is no such tool')
  const parsed = await parseArguments(tool, { path_id: '1', query_id: null, filter: '{"state": "open"}' })
  expect(parsed).toEqual({ ok: true, value: { path_id: '1', filter: { state: 'open' } } })
  if (parsed.ok) await call('orders_get', parsed.value)
  expect(server.last).toMatchObject({ url: '/orders/1?filter%5Bstate%5D=open' })
})

it('effect, approval and callers follow the method, and the configuration comes before it', async () => {
  const facts = async (options: object) =>
    Object.fromEntries(
      (await listShop(options)).tools.map(({ name, effect, approval }) => [
        name.replace('shop__orders_', ''),
        `${effect} ${approval === true ? 'asked' : 'free'}`,
      ]),
    )
  expect(await facts({})).toEqual({
    get: 'read free',
    put: 'idempotent asked',
    delete: 'idempotent asked',
    create: 'once asked',
    upload: 'once asked',
  })
  const operations = {
    'orders/create': { effect: 'read' },
    'DELETE /orders/{id}': { approval: 'never', effect: 'once' },
  }
  expect(await facts({ operations, idempotencyKeyHeader: 'Idempotency-Key' })).toEqual({
    get: 'read free',
    put: 'idempotent asked',
    delete: 'once free',
    create: 'read free',
    upload: 'idempotent asked',
  })
})

it('a result has the status and the headers where the configuration asks for them, without cookies and credentials', async () => {
  const { server, tools, call } = await listShop({
    headers: { 'X-Key': '${shop_token}' },
    operations: { 'orders/get': { responseHeaders: true } },
  })
  server.answer = (_, response) =>
    void response
      .writeHead(206, { link: '<?page=2>; rel="next"', 'set-cookie': 'a=b', 'x-echo': 'value-of-shop_token' })
      .end('[1]')
  const args = { path_id: '1' }
  const result = (await call('orders_get', args)) as { readonly status: number; readonly headers: object }
  expect(result).toMatchObject({ status: 206, body: [1], headers: { link: '<?page=2>; rel="next"' } })
  expect(Object.keys(result.headers)).not.toContain('set-cookie')
  expect(JSON.stringify(result)).not.toContain('value-of-shop_token')
  expect(tools.find(({ name }) => name === 'shop__orders_get')?.outputSchema).toMatchObject({
    required: ['status', 'headers', 'body'],
  })
  expect(await call('orders_delete', { id: '1' })).toEqual([1])
})

it('an idempotency key is sent where the configuration names its header', async () => {
  const { server, call } = await listShop({
    operations: { 'orders/create': { idempotencyKeyHeader: 'Idempotency-Key' } },
  })
  await call('orders_create', { body: [] })
  expect(server.last.headers['idempotency-key']).toBe('key-1')
  await call('orders_upload', { body: {} })
  expect(server.last.headers).not.toHaveProperty('idempotency-key')
})

describe('arguments of a path', () => {
  it.each(['../admin', '..', 'a/b', '%2e%2e%2fadmin', 'a%2fb', ''])('%j reach no other operation', async (id) => {
    const { server, call } = await listShop()
    await expect(call('orders_get', { path_id: id })).rejects.toBeInstanceOf(ToolError)
    expect(server.requests).toEqual([])
  })

  it('a header with a line break is refused', async () => {
    const { server, call } = await listShop()
    await expect(call('orders_get', { path_id: '1', header_id: 'a\r\nx: y' })).rejects.toThrow(
      'header id has a character',
    )
    expect(server.requests).toEqual([])
  })
})

describe('credentials', () => {
  const secured = (name: string) => ({ ...shop, security: [{ [name]: [] }] })

  it.each([
    ['token', '${secret_name}', { authorization: 'Bearer value-of-secret_name' }, '/orders/1'],
    [
      'password',
      'ada:${secret_name}',
      { authorization: `Basic ${Buffer.from('ada:value-of-secret_name').toString('base64')}` },
      '/orders/1',
    ],
    ['key', '${secret_name}', {}, '/orders/1?api_key=value-of-secret_name'],
  ])('of scheme %s are sent, and replaced in results and errors', async (scheme, value, headers, url) => {
    const { server, call, tools } = await listShop({ credentials: { [scheme]: value } }, secured(scheme))
    expect(tools[0]?.credentials).toEqual(['secret_name'])
    server.answer = ({ headers: sent, url: path }, response) =>
      void response.setHeader('content-type', 'application/json').end(JSON.stringify({ sent, path }))
    const result = JSON.stringify(await call('orders_get', { path_id: '1' }))
    expect(server.last).toMatchObject({ url, headers })
    expect(result).toContain('[credential ')
    server.answer = ({ headers: sent, url: path }, response) =>
      void response.writeHead(400).end(JSON.stringify({ sent, path }))
    const error = String(await call('orders_get', { path_id: '1' }).catch(String))
    expect(error).toContain('HTTP 400 Bad Request')
    for (const shown of [result, error]) {
      expect(shown).not.toContain('value-of-secret_name')
      expect(shown).not.toContain(Buffer.from('ada:value-of-secret_name').toString('base64'))
    }
  })

  describe('of a client of OAuth', () => {
    const document = (tokenUrl?: string) => ({
      ...secured('login'),
      components: {
        securitySchemes: {
          login: {
            type: 'oauth2',
            flows: tokenUrl === undefined ? {} : { clientCredentials: { tokenUrl, scopes: {} } },
          },
        },
      },
    })
    const client = { clientId: 'id of a client', clientSecret: '${shop_secret}', scopes: ['read', 'write'] }

    async function startTokens(lifetime = 3_600) {
      let issued = 0
      const tokens = await RecordingServer.start((_, response) => {
        issued += 1
        response.setHeader('content-type', 'application/json')
        response.end(
          JSON.stringify({ access_token: `token-number-${issued}`, token_type: 'Bearer', expires_in: lifetime }),
        )
      })
      const { server, call } = await listShop(
        { credentials: { login: { ...client, tokenUrl: `${tokens.url}/token` } } },
        document('https://login.example.com/token'),
      )
      return { tokens, server, call: () => call('orders_create', { body: [] }) }
    }

    it('get a token once for concurrent and later calls, which is replaced in results', async () => {
      const { tokens, server, call } = await startTokens()
      server.answer = ({ headers }, response) => void response.end(headers.authorization)
      expect(await Promise.all([call(), call()])).toEqual(Array(2).fill('Bearer [credential login]'))
      await call()
      expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
        Array(3).fill('Bearer token-number-1'),
      )
      const basic = Buffer.from('id+of+a+client:value-of-shop_secret').toString('base64')
      expect(tokens.requests).toMatchObject([
        {
          method: 'POST',
          url: '/token',
          headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
          body: 'grant_type=client_credentials&scope=read+write',
        },
      ])
    })

    it('get another token after the first one has expired, and once after the API has refused it', async () => {
      const short = await startTokens(30)
      await short.call()
      await short.call()
      expect(short.tokens.requests).toHaveLength(2)

      const { tokens, server, call } = await startTokens()
      await call()
      server.answer = ({ headers }, response) =>
        void response.writeHead(headers.authorization?.endsWith('2') ? 200 : 401).end('{}')
      expect(await call()).toEqual({})
      server.answer = (_, response) => void response.writeHead(401).end()
      await expect(call()).rejects.toThrow('HTTP 401')
      await expect(call()).rejects.toThrow('HTTP 401')
      expect(tokens.requests).toHaveLength(4)
      expect(server.requests).toHaveLength(7)
    })

    it.each([
      [400, '{"error":"invalid_client","error_description":"value-of-shop_secret"}', '400 (invalid_client)', true],
      [503, 'no', 'HTTP status 503', true],
      [200, '{"access_token":"a\\nb","token_type":"bearer"}', 'without a bearer token', true],
      [200, '{"access_token":"abc","token_type":"mac"}', 'without a bearer token', true],
    ])('without a token (%i %s) send no call', async (status, answer, message, isToolError) => {
      const { tokens, server, call } = await startTokens()
      tokens.answer = (_, response) => void response.writeHead(status).end(answer)
      const thrown: unknown = await call().catch((error: unknown) => error)
      expect(String(thrown)).toContain(message)
      expect(String(thrown)).not.toContain('value-of-shop_secret')
      // A call with effect once is not tried again, and code learns that it had no effect.
      expect(thrown instanceof ToolError).toBe(isToolError)
      expect(server.requests).toEqual([])
    })

    it.each([
      [document(), client, 'the document has no token URL for clients'],
      [document('http://login.example.com/token'), client, 'is not https: set tokenUrl'],
      [{ ...secured('key') }, client, 'it takes no token'],
    ])('are refused at start where they can get no token: %#', async (whole, credentials, problem) => {
      const scheme = Object.keys(whole.security[0] ?? {})[0] ?? ''
      await expect(listShop({ credentials: { [scheme]: credentials } }, whole)).rejects.toThrow(problem)
    })
  })

  it('an operation without security gets none of a scheme, and headers of the configuration', async () => {
    const { server, call } = await listShop({
      credentials: { token: '${secret_name}' },
      headers: { 'X-Api': 'key ${other}' },
    })
    await call('orders_get', { path_id: '1' })
    expect(server.last.headers).toMatchObject({ 'x-api': 'key value-of-other' })
    expect(server.last.headers).not.toHaveProperty('authorization')
  })

  it('are not sent without encryption to a server that only the document names', async () => {
    const document = { ...secured('token'), servers: [{ url: 'http://api.example.com' }] }
    await expect(listShop({ credentials: { token: '${t}' }, baseUrl: undefined }, document)).rejects.toMatchObject({
      code: 'TOOL_SOURCE_FAILED',
      message: expect.stringContaining('without encryption: set baseUrl') as string,
    })
  })

  it('of an unknown scheme are refused at start', async () => {
    await expect(listShop({ credentials: { tokn: '${t}' } })).rejects.toMatchObject({
      message: expect.stringContaining('security scheme "tokn" is not in the document') as string,
      hint: 'The document has: token, password, key.',
    })
  })
})

describe('a response', () => {
  async function answered(
    status: number,
    body: string | Buffer,
    type?: string,
    name = 'orders_get',
    headers: Record<string, string> = {},
  ) {
    const { server, call } = await listShop()
    server.answer = (_, response) =>
      void response.writeHead(status, { ...(type && { 'content-type': type }), ...headers }).end(body)
    const args = name === 'orders_create' ? { body: [] } : name === 'orders_get' ? { path_id: '1' } : { id: '1' }
    const result: unknown = await call(name, args).catch((thrown: unknown) => thrown)
    return { result, requests: server.requests.length }
  }

  it.each([
    [200, '{"a":1}', 'application/json', { a: 1 }],
    [200, '{"a":1}', 'application/vnd.api+json; charset=utf-8', { a: 1 }],
    [200, 'not json', 'application/json', 'not json'],
    [200, 'a,b', 'text/csv', 'a,b'],
    [200, '', 'application/json', null],
    [202, '', undefined, null],
    [204, '', undefined, null],
    [200, Buffer.from([0xff, 0x00]), 'image/png', { contentType: 'image/png', base64: '/wA=' }],
    [200, Buffer.from([0xe9]), 'text/plain; charset=latin1', 'é'],
  ])('of status %i with %j in %s is a success', async (status, body, type, expected) => {
    expect((await answered(status, body, type)).result).toEqual(expected)
  })

  it('of a delete without a body is a success, and the call is sent once', async () => {
    expect(await answered(204, '', undefined, 'orders_delete')).toEqual({ result: null, requests: 1 })
  })

  it.each([
    [404, 'orders_get', true],
    [422, 'orders_create', true],
    [429, 'orders_create', true],
    [429, 'orders_get', false],
    [408, 'orders_create', false],
    [500, 'orders_create', false],
    [503, 'orders_get', false],
  ])('of status %i of %s says whether the call had no effect: %s', async (status, name, hadNone) => {
    const { result, requests } = await answered(status, '{"error":"why"}', 'application/json', name, {
      'retry-after': '7',
    })
    expect(result).toBeInstanceOf(Error)
    expect(result instanceof ToolError).toBe(hadNone)
    expect((result as Error).message).toMatch(
      new RegExp(`^HTTP ${status} .+ \\(retry after 7\\): \\{"error":"why"\\}$`),
    )
    expect(requests).toBe(1)
  })

  it('of an error is shown up to a bound', async () => {
    const { result } = await answered(400, `begin ${'x'.repeat(1_000_000)}`, 'text/plain')
    expect((result as Error).message).toMatch(/^HTTP 400 Bad Request: begin x+/)
    expect((result as Error).message.length).toBeLessThan(2_000)
  })

  it('that is too large ends the call', async () => {
    const { server, call } = await listShop()
    server.answer = (_, response) => void response.end(Buffer.alloc(17 * 1024 * 1024, 'x'))
    await expect(call('orders_get', { path_id: '1' })).rejects.toThrow('more than 16777216 bytes')
  })

  it('that redirects to another origin is not followed', async () => {
    const other = await RecordingServer.start()
    const { result } = await answered(302, '', undefined, 'orders_get', { location: `${other.url}/x` })
    expect((result as Error).message).toBe(`HTTP 302 Found; the redirect to ${other.url}/x was not followed`)
    expect(other.requests).toEqual([])
  })

  it('that redirects a read within its origin is followed, and one without end is not', async () => {
    const { server, call } = await listShop()
    server.answer = ({ url }, response) =>
      url === '/new' ? void response.end('"moved"') : void response.writeHead(301, { location: '/new' }).end()
    expect(await call('orders_get', { path_id: '1' })).toBe('moved')
    server.answer = (_, response) => void response.writeHead(301, { location: '/again' }).end()
    await expect(call('orders_get', { path_id: '1' })).rejects.toThrow('HTTP 301')
    expect(server.requests).toHaveLength(8)
  })

  it('that redirects a write leaves its outcome unknown, unless the status says that nothing was done', async () => {
    const at = async (status: number) =>
      (await answered(status, '', undefined, 'orders_create', { location: '/x' })).result
    expect(await at(303)).not.toBeInstanceOf(ToolError)
    expect(await at(307)).toBeInstanceOf(ToolError)
  })
})

it('a connection that ends after a write leaves its outcome unknown, and one that fails before it does not', async () => {
  const { server, call } = await listShop()
  server.answer = (_, response) => void response.destroy()
  await expect(call('orders_create', { body: [] })).rejects.not.toBeInstanceOf(ToolError)
  expect(server.requests).toHaveLength(1)
  const { call: unreachable } = await listShop({ baseUrl: 'http://127.0.0.1:1' })
  await expect(unreachable('orders_create', { body: [] })).rejects.toBeInstanceOf(ToolError)
  await expect(unreachable('orders_get', { path_id: '1' })).rejects.not.toBeInstanceOf(ToolError)
})

it('a server that only the document names must be public', async () => {
  const server = await RecordingServer.start()
  const { call } = await listShop({ baseUrl: undefined }, { ...shop, servers: [{ url: server.url }] })
  await expect(call('orders_get', { path_id: '1' })).rejects.toThrow('127.0.0.1 is refused')
  expect(server.requests).toEqual([])
})
