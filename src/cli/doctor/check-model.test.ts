import { describe, expect, it } from 'vitest'
import { checkModel } from './check-model.js'

const answering = (status: number) => () => Promise.resolve(new Response(null, { status }))
const key = { ANTHROPIC_API_KEY: 'sk-secret' }

describe('checkModel', () => {
  it.each([
    [key, 'https://api.anthropic.com/v1/models/m', { 'x-api-key': 'sk-secret' }],
    [
      { ANTHROPIC_AUTH_TOKEN: 'sk-secret', ANTHROPIC_BASE_URL: 'http://proxy/' },
      'http://proxy/v1/models/m',
      { authorization: 'Bearer sk-secret' },
    ],
  ])('requests the model and never shows the key: %j', async (environment, url, header) => {
    const requests: unknown[] = []
    const check = await checkModel('m', environment, (...request) => {
      requests.push(request)
      return answering(200)()
    })
    expect(requests).toEqual([[url, expect.objectContaining({ headers: expect.objectContaining(header) })]])
    expect(check).toMatchObject({ status: 'ok', message: expect.stringContaining('accepted') })
    expect(JSON.stringify(check)).not.toContain('sk-secret')
  })

  it.each([
    [401, 'error', 'ANTHROPIC_API_KEY is set, and refused by the API (401)'],
    [404, 'warning', 'ANTHROPIC_API_KEY is set; the API knows no model m'],
    [500, 'ok', "ANTHROPIC_API_KEY is set; whether it is accepted can't be asked there (500)"],
  ])('handles status %d', async (code, status, message) => {
    expect(await checkModel('m', key, answering(code))).toMatchObject({ name: 'Model', status, message })
  })

  it('rejects a key that is no valid header, without showing it', async () => {
    const check = await checkModel('m', { ANTHROPIC_API_KEY: 'sk-se\ncret' }, answering(200))
    expect(check).toMatchObject({ status: 'error', message: "ANTHROPIC_API_KEY has a character that can't be sent" })
  })

  it('warns when the API does not answer', async () => {
    const check = await checkModel('m', key, () => Promise.reject(new Error('fetch failed')))
    expect(check).toMatchObject({
      status: 'warning',
      message: 'ANTHROPIC_API_KEY is set; the API does not answer: fetch failed',
    })
  })

  it.each([{}, { ANTHROPIC_API_KEY: ' ' }])('warns without a key and sends no request: %j', async (environment) => {
    const fetchUrl = () => Promise.reject(new Error('requested'))
    expect(await checkModel('m', environment, fetchUrl)).toMatchObject({
      status: 'warning',
      remedy: expect.stringContaining('Set one'),
    })
  })
})
