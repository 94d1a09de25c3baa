import { expect, test } from 'vitest'
import { validRequest, post, textTurn, startServer, type PostOptions } from './support.js'

export interface RejectedRequest {
  readonly name: string
  /** Replaces the valid request; a string is sent unchanged. */
  readonly body: unknown
  readonly message: string | RegExp
  readonly status?: number
  readonly type?: string
  readonly options?: PostOptions
}

export const tool = { name: 'get_expenses', input_schema: { type: 'object', properties: {} } }
export const use = (id: string) => ({ type: 'tool_use', id, name: 'get_expenses', input: {} })
export const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })
export const text = (value: string) => ({ type: 'text', text: value })
export const user = (...content: unknown[]) => ({ role: 'user', content })
export const assistant = (...content: unknown[]) => ({ role: 'assistant', content })
export const cached = { cache_control: { type: 'ephemeral' } }
export const ask = user(text('Hello'))

export function without(key: string): unknown {
  return Object.fromEntries(Object.entries(validRequest).filter(([name]) => name !== key))
}
export function withMessages(...messages: unknown[]): unknown {
  return { ...validRequest, messages }
}
export function withTools(...tools: unknown[]): unknown {
  return { ...validRequest, tools }
}

/** Declares a test for each row: status, type, text and headers are those of the real API. */
export function testRejectedRequests(refusals: readonly RejectedRequest[]): void {
  test.each(refusals)(
    'the scripted server refuses $name',
    async ({ body, message, status = 400, type = 'invalid_request_error', options = {} }) => {
      const models = ['claude-sonnet-5', 'claude-sonnet-4-5']
      const server = await startServer({ script: [textTurn('Hi')], apiKey: 'sk-test', models })

      const response = await post(server, body, options)

      const requestId = response.headers.get('request-id')
      expect(await response.json()).toEqual({
        type: 'error',
        error: { type, message: typeof message === 'string' ? message : expect.stringMatching(message) },
        request_id: requestId,
      })
      expect(response.status).toBe(status)
      expect(requestId).toMatch(/^req_011C[A-Za-z0-9]{12,}$/)
      expect(response.headers.get('x-should-retry')).toBe('false')
      await server.waitForRequest(({ outcome }) => outcome === 'rejected')
    },
  )
}
