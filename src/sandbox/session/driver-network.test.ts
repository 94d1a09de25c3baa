import { expect, it } from 'vitest'
import { HostileRunner } from '../../../test/support/faults/hostile-runner.js'
import { accessTo } from '../../../test/support/network/access.js'
import { resolverOf } from '../../../test/support/web/page-fetcher.js'
import { body, startWebServer } from '../../../test/support/web/web-server.js'
import { defaultLimits } from '../../common/run/limits.js'
import type { StepResult } from '../../common/session/steps.js'
import type { NetworkAccess } from '../network/access.js'
import { networkDataBytes, networkWindowBytes } from '../protocol/messages.js'
import { SessionDriver } from './session-driver.js'

const limits = { ...defaultLimits, cellSeconds: 5 }
const fence = [3, 1, 1]
const message = (kind: string, more: object = {}, of = fence) => ({
  type: 'network',
  fence: of,
  connection: 1,
  kind,
  ...more,
})
const data = (text: string) => message('data', { text: Buffer.from(text).toString('base64') })
const completed = { type: 'completed', step: 1, output: '' }

function drive(network?: NetworkAccess) {
  const runner = new HostileRunner()
  const { resolve } = resolverOf({ 'api.test': ['127.0.0.1'] })
  const options = {
    session: 's',
    epoch: 3,
    seed: 1,
    startedAt: 0,
    tools: [],
    limits,
    resume: false,
    proxy: { resolve },
  }
  const driver = new SessionDriver(runner, options)
  const noValue = () => {
    throw new Error('no step here refers to a value')
  }
  const result: Promise<StepResult> = driver.executeStep(
    { number: 1, now: 0, input: { type: 'cell', cell: 1, source: 'x' } },
    { attempt: 1, onOutput: () => undefined, readValue: noValue, network },
  )
  const received = () =>
    runner.hostMessages
      .map((each) =>
        each.type === 'network' && each.kind === 'data' ? Buffer.from(each.text, 'base64').toString() : '',
      )
      .join('')
  return { runner, driver, result, received }
}

it('requests of a program are answered while its step runs, and between two steps', async () => {
  const server = await startWebServer({ '/': body('hello', 'text/plain') })
  const { port } = server
  const access = accessTo([
    { host: 'api.test', port },
    { host: '127.0.0.1', port },
  ])
  const { runner, result, received } = drive(access)
  const request = `GET http://api.test:${port}/ HTTP/1.1\r\nHost: api.test:${port}\r\n\r\n`
  runner.emit(message('open'))
  runner.emit(data(request))
  await expect.poll(received).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\nhello\r\n/)
  runner.emit(completed)
  expect(await result).toMatchObject({ type: 'completed' })
  runner.emit(data(request))
  await expect.poll(() => server.requested).toHaveLength(2)
})

it('messages about connections are ignored in a sandbox without a network, and with the fence of another worker', async () => {
  for (const [access, of] of [
    [undefined, fence],
    [accessTo([]), [3, 1, 2]],
  ] as const) {
    const { runner, result } = drive(access)
    runner.emit(message('open', {}, [...of]))
    runner.emit(message('data', { text: 'eHg=' }, [...of]))
    runner.emit(completed)
    expect(await result).toMatchObject({ type: 'completed' })
    expect(runner.hostMessages.filter(({ type }) => type === 'network')).toEqual([])
  }
})

it.each([
  ['text that is not Base64', message('data', { text: '***' })],
  ['too much text', message('data', { text: 'A'.repeat(2 * networkDataBytes) })],
  ['a window over its bound', message('window', { bytes: networkWindowBytes + 1 })],
  ['a window of nothing', message('window', { bytes: 0 })],
  ['a connection without a number', message('open', { connection: 0 })],
  ['an unknown kind', message('listen')],
  ['another member', message('open', { host: '127.0.0.1' })],
])('a message with %s ends the sandbox', async (_, forged) => {
  const { runner, result } = drive(accessTo([]))
  runner.emit(forged)
  expect(await result).toMatchObject({ type: 'lost', cause: 'protocol' })
  expect(runner.killed).toBe(true)
})

it('the end of the sandbox, and of the attachment, ends its connections', async () => {
  for (const end of [
    ({ runner }: ReturnType<typeof drive>) => runner.end({}),
    ({ driver }: ReturnType<typeof drive>) => void driver.detach(),
  ]) {
    let closed = 0
    const server = await startWebServer({
      '/': (response) => {
        response.on('close', () => (closed += 1))
        response.write('begin')
      },
    })
    const { port } = server
    const driven = drive(accessTo([{ host: '127.0.0.1', port }]))
    const { runner, received } = driven
    runner.emit(message('open'))
    runner.emit(data(`GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`))
    await expect.poll(received).toContain('begin')
    end(driven)
    await expect.poll(() => closed).toBe(1)
  }
})
