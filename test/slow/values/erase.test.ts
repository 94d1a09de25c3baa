import { setTimeout as delay } from 'node:timers/promises'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { eraseRun } from '../../../src/client/run/erase-run.js'
import { fileStream, streamName } from '../../../src/stream/index.js'
import { LocalStore } from '../../../src/values/local/local-store.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { useOwnNamespace } from '../../support/temporal/shared-server.js'
import { tool } from '../../support/tools.js'

// Erasing reads the histories of all runs of a namespace.
beforeEach(useOwnNamespace)

const signal = new AbortController().signal
const rows = tool('rows', ({ name }) => Array.from({ length: 2_000 }, (_, row) => `${name as string} ${row}`))

it('erases a finished run with its live stream, and the values that no other run refers to', async () => {
  const stream = fileStream({ folder: await temporaryFolder() })
  const env = await TestEnvironment.start({ tools: [rows], backend: 'wasm', stream })
  const store = new LocalStore(env.valuesDirectory)
  const contents = async () => {
    const texts: string[] = []
    for await (const value of store.list(signal)) {
      for await (const piece of store.read(value, signal)) texts.push(Buffer.from(piece).toString())
    }
    return texts.join()
  }
  const erase = (workflowId: string, dryRun = false) =>
    eraseRun(env.client, { store, stream, workflowId, dryRun, signal })
  const streamed = (workflowId: string) =>
    stream.reader(streamName(env.client.options.namespace, workflowId)).read(undefined, 0)

  const first = await env.startProgram(
    'a, b = await rows(name="shared"), await rows(name="private")\nprint(len(a + b))',
  )
  await first.result()
  const second = await env.startProgram('print(len(await rows(name="shared")))')
  await second.result()
  const open = await env.startProgram('import asyncio\nawait asyncio.sleep(600)')
  for (const { workflowId } of [first, second]) {
    while ((await env.client.workflow.count(`WorkflowId = '${workflowId}'`)).count === 0) await delay(100)
  }

  await expect(erase(open.workflowId)).rejects.toMatchObject({ code: 'RUN_INPUT_INVALID' })
  await expect(erase('nobody')).rejects.toMatchObject({ code: 'TEMPORAL_NOT_FOUND' })
  const endedAt = (await first.describe()).closeTime?.getTime() ?? 0
  const clock = vi.spyOn(Date, 'now').mockReturnValue(endedAt + 30_000)
  onTestFinished(() => clock.mockRestore())
  await expect(erase(first.workflowId)).rejects.toThrow('less than a minute ago')
  clock.mockRestore()

  const now = Date.now
  vi.spyOn(Date, 'now').mockImplementation(() => now() + 61_000)
  onTestFinished(() => void vi.restoreAllMocks())
  expect(await contents()).toContain('private 1999')
  expect(await erase(first.workflowId, true)).toMatchObject({ values: { count: 1 } })
  expect(await contents()).toContain('private 1999')
  expect(await streamed(first.workflowId)).not.toEqual([])

  expect(await erase(first.workflowId)).toMatchObject({ runIds: [expect.any(String)], values: { count: 1 } })
  await expect.poll(() => first.describe().catch((thrown: Error) => thrown.name)).toBe('WorkflowNotFoundError')
  expect(await contents()).not.toContain('private')
  expect(await contents()).toContain('shared 1999')
  expect(await streamed(first.workflowId)).toEqual([])
  expect(await streamed(second.workflowId)).not.toEqual([])
  await env.expectCleanEnd(second)

  await erase(second.workflowId)
  expect(await contents()).not.toContain('shared')
})
