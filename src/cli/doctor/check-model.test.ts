import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { checkModel } from './check-model.js'

const answering = (status: number) => () => Promise.resolve(new Response(null, { status }))
const anthropic = { provider: 'anthropic', model: 'm', option: { kind: 'anthropic' } } as const
const key = { ANTHROPIC_API_KEY: 'sk-secret' }

describe('checkModel', () => {
  it.each([
    [key, 'https://api.anthropic.com/v1/models/m', { 'x-api-key': 'sk-secret' }],
    [
      { ANTHROPIC_AUTH_TOKEN: 'sk-secret', ANTHROPIC_BASE_URL: 'http://proxy/' },
      'http://proxy/v1/models/m',
      { authorization: 'Bearer sk-secret' },
    ],
  ])('the check of the model sends a request and never shows the key: %j', async (environment, url, header) => {
    const requests: unknown[] = []
    const check = await checkModel(anthropic, environment, (...request) => {
      requests.push(request)
      return answering(200)()
    })
    expect(requests).toEqual([[url, expect.objectContaining({ headers: expect.objectContaining(header) })]])
    expect(check).toMatchObject({ status: 'ok', message: expect.stringContaining('the API accepts requests') })
    expect(JSON.stringify(check)).not.toContain('sk-secret')
  })

  it.each([
    [401, 'error', 'ANTHROPIC_API_KEY is set, and refused by the API (401)'],
    [404, 'warning', 'ANTHROPIC_API_KEY is set; the API does not know the model m'],
    [500, 'ok', 'ANTHROPIC_API_KEY is set; the API gave no answer about the key (500)'],
  ])('the check of the model handles status %d', async (code, status, message) => {
    expect(await checkModel(anthropic, key, answering(code))).toMatchObject({ name: 'Model', status, message })
  })

  it('the check of the model rejects a key that is not a valid header, and does not show it', async () => {
    const check = await checkModel(anthropic, { ANTHROPIC_API_KEY: 'sk-se\ncret' }, answering(200))
    expect(check).toMatchObject({ status: 'error', message: "ANTHROPIC_API_KEY has a character that can't be sent" })
  })

  it('the check of the model says why the API does not answer', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
    const refuse = () => Promise.reject(new TypeError('fetch failed', { cause: refused }))
    expect(await checkModel(anthropic, key, refuse)).toMatchObject({
      status: 'warning',
      message: 'ANTHROPIC_API_KEY is set; the API does not answer: fetch failed: connect ECONNREFUSED 127.0.0.1:1',
    })
    const both = new AggregateError([new Error('connect ECONNREFUSED ::1:1'), refused])
    const refuseBoth = () => Promise.reject(new TypeError('fetch failed', { cause: both }))
    expect(await checkModel(anthropic, key, refuseBoth)).toMatchObject({
      message: expect.stringMatching(/::1:1, connect ECONNREFUSED 127.0.0.1:1$/),
    })
  })

  it('the check of the model uses the proxy of the environment', async () => {
    const asked: unknown[] = []
    const proxy = createServer().on('connect', ({ url }, socket) => {
      asked.push(url)
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    onTestFinished(() => void proxy.close())
    onTestFinished(() => void vi.unstubAllEnvs())
    vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
    vi.stubEnv('NO_PROXY', '')
    const check = await checkModel(anthropic, { ...key, ANTHROPIC_BASE_URL: 'http://api.models.example' })
    expect(check).toMatchObject({ status: 'warning' })
    expect(asked).toEqual(['api.models.example:80'])
  })

  it('the check of the model warns when the API does not answer', async () => {
    const check = await checkModel(anthropic, key, () => Promise.reject(new Error('fetch failed')))
    expect(check).toMatchObject({
      status: 'warning',
      message: 'ANTHROPIC_API_KEY is set; the API does not answer: fetch failed',
    })
  })

  it.each([{}, { ANTHROPIC_API_KEY: ' ' }])(
    'the check of the model warns without a key, and sends no request: %j',
    async (environment) => {
      const fetchUrl = () => Promise.reject(new Error('requested'))
      expect(await checkModel(anthropic, environment, fetchUrl)).toMatchObject({
        status: 'warning',
        remedy: expect.stringContaining('Set one'),
      })
    },
  )

  it.each([
    [
      {},
      { OPENAI_API_KEY: 'sk-secret' },
      'https://api.openai.com/v1/models/org%2Fm',
      { authorization: 'Bearer sk-secret' },
    ],
    [{ baseURL: 'http://host:11434/v1/' }, { OPENAI_API_KEY: 'sk-secret' }, 'http://host:11434/v1/models/org%2Fm', {}],
    [
      { baseURL: 'http://host/v1', apiKey: { environment: 'MINE' } },
      { OPENAI_API_KEY: 'sk-other', MINE: 'sk-secret' },
      'http://host/v1/models/org%2Fm',
      { authorization: 'Bearer sk-secret' },
    ],
  ])(
    'the check of the model sends only the key of the compatible server: %j',
    async (option, environment, url, headers) => {
      const requests: unknown[] = []
      const model = { provider: 'local', model: 'org/m', option: { kind: 'openai', ...option } } as const
      const check = await checkModel(model, environment, (...request) => {
        requests.push(request)
        return answering(200)()
      })
      expect(requests).toEqual([[url, { headers, signal: expect.anything() as AbortSignal }]])
      expect(check).toMatchObject({ status: 'ok', message: expect.stringContaining('the API accepts requests') })
    },
  )

  it('the check of the model leaves Amazon Bedrock to the first turn', async () => {
    const model = { provider: 'bedrock', model: 'm', option: { kind: 'bedrock' } } as const
    const fetchUrl = () => Promise.reject(new Error('requested'))
    expect(await checkModel(model, key, fetchUrl)).toMatchObject({ status: 'ok' })
  })

  it('the check of the model skips a provider of the user', async () => {
    const option = { turn: () => Promise.reject(new Error('asked')), close: () => Promise.resolve() }
    const fetchUrl = () => Promise.reject(new Error('requested'))
    expect(await checkModel({ provider: 'mine', model: 'm', option }, key, fetchUrl)).toMatchObject({
      status: 'ok',
      message: "provider mine is defined in the configuration, and can't be checked",
    })
  })
})
