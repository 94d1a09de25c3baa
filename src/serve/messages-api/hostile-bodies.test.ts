import { expect, it, onTestFinished } from 'vitest'
import { createPtcClient } from '../../client/index.js'
import { startServer } from '../index.js'

const code = { type: 'code_execution_20260120', name: 'code_execution' }
const valid = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hi.' }] }
const list = (count: number, item: string) => `[${`${item},`.repeat(count - 1)}${item}]`
/** A request whose member is replaced by this one. */
const bodyWith = (member: string, value: string, more: object = valid) =>
  `${JSON.stringify(more).slice(0, -1)},"${member}":${value}}`
const tool = (schema: string) => `[${JSON.stringify(code)},{"name":"a","input_schema":${schema}}]`

const bodies: readonly (readonly [string, string])[] = [
  ['a schema of lists', bodyWith('tools', tool(`{"type":"object","enum":${list(10_000_000, '[]')}}`))],
  ['a schema of as many lists as may be', bodyWith('tools', tool(`{"type":"object","enum":${list(120_000, '[]')}}`))],
  ['a deep schema', bodyWith('tools', tool(`${'{"items":'.repeat(450)}{}${'}'.repeat(450)}`))],
  ['a long schema', bodyWith('tools', tool(`{"type":"object","description":"${'x'.repeat(3_000_000)}"}`))],
  ['tools', bodyWith('tools', list(300_000, '{"name":"a","input_schema":{}}'))],
  ['tools that are none', bodyWith('tools', list(240_000, '0'))],
  ['unknown members', `{${Array.from({ length: 2_000_000 }, (_, n) => `"k${n}":1`).join(',')}}`],
  ['as many unknown members as may be', `{${Array.from({ length: 240_000 }, (_, n) => `"k${n}":1`).join(',')}}`],
  ['text blocks', bodyWith('messages', `[{"role":"user","content":${list(200_000, '{"type":"text","text":""}')}}]`)],
  ['stop sequences', bodyWith('stop_sequences', list(240_000, '"x"'))],
  ['a format', bodyWith('output_format', `{"type":"json_schema","schema":{"enum":${list(120_000, '[]')}}}`)],
  ['a long name', bodyWith('x'.repeat(3_000_000), '1')],
]

it('refuses hostile bodies with short errors, and blocks its event loop for less than a second', async () => {
  // This client sends nothing: all of these requests are refused before.
  const ptc = createPtcClient({ client: { options: { loadedDataConverter: {} } } as never })
  const server = await startServer({ ptc, port: 0 })
  onTestFinished(() => server.close())
  for (const [what, body] of bodies) {
    const begin = process.cpuUsage()
    const response = await fetch(`${server.url}/v1/messages`, { method: 'POST', body })
    const reply = await response.text()
    const { user, system } = process.cpuUsage(begin)
    expect({ what, status: response.status, type: response.headers.get('request-id')?.slice(0, 4) }).toEqual({
      what,
      status: 400,
      type: 'req_',
    })
    expect(reply, what).toContain('"type":"invalid_request_error"')
    expect(reply.length, what).toBeLessThan(3_000)
    // The time includes the client of the test and the transport of 30 MB in this process.
    expect((user + system) / 1_000, what).toBeLessThan(1_500)
  }
})
