import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { RecordingServer } from '../../support/openapi/recording-server.js'
import { pollOptions } from '../../support/poll-options.js'
import { noModel } from '../../support/script.js'

const config = fileURLToPath(new URL('../../fixtures/openapi/openapi.config.ts', import.meta.url))

/** An API that never answers the first request for `/notes/waits`. */
async function start() {
  const api = await RecordingServer.start(({ url }, response) => {
    const isFirst = api.requests.filter((each) => each.url === url).length === 1
    if (url !== '/notes/waits' || !isFirst) response.setHeader('content-type', 'application/json').end(`"wrote ${url}"`)
  })
  const environment = { TEST_API: api.url, TEST_VALUES: join(await temporaryFolder(), 'values') }
  const env = await TestEnvironment.startProcesses({ script: noModel, config, environment })
  const executed = (id: string) => api.requests.filter(({ url }) => url === `/notes/${id}`)
  return { env, executed }
}

it('a call of an OpenAPI operation that may be repeated is repeated when its worker is killed', async () => {
  const { env, executed } = await start()
  const handle = await env.startProgram(
    'print(await notes__replace(id="before"))\nprint(await notes__replace(id="waits"))',
  )
  await expect.poll(() => executed('waits'), pollOptions).toHaveLength(1)
  await env.workers.kill()
  await env.workers.start()
  const { outcome } = (await handle.result()) as ProgramResult
  expect(outcome).toMatchObject({ status: 'ok', output: 'wrote /notes/before\nwrote /notes/waits\n' })
  expect(executed('before')).toHaveLength(1)
  expect(executed('waits')).toHaveLength(2)
  await env.expectCleanEnd(handle)
})

it('a call of an OpenAPI operation with effect once is not repeated when its worker is killed, and code learns that', async () => {
  const { env, executed } = await start()
  const handle = await env.startProgram(`
print(await notes__write(id="before"))
try: print(await notes__write(id="waits"))
except ToolOutcomeUnknown as error: print("unknown")
print(await notes__write(id="after"))`)
  await expect.poll(() => executed('waits'), pollOptions).toHaveLength(1)
  await env.workers.kill()
  await env.workers.start()
  const { outcome } = (await handle.result()) as ProgramResult
  expect(outcome).toMatchObject({ status: 'ok', output: 'wrote /notes/before\nunknown\nwrote /notes/after\n' })
  for (const id of ['before', 'waits', 'after']) expect(executed(id)).toHaveLength(1)
  await env.expectCleanEnd(handle)
})
