import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { AgentResult } from '../../../src/common/run/runs.js'
import { filesIn, temporaryFolder } from '../../support/folders.js'
import { answerResult, call, code, turn } from '../../support/script.js'
import { startCrashingWorkers } from '../support/crashing-workers.js'
import type { Crash } from '../support/failpoint-crashes.js'

const config = fileURLToPath(new URL('../../fixtures/memory.config.ts', import.meta.url))
const path = '/memories/log'

/** Writes of the model and of its code. A second insertion, or a lost one, would change the answer. */
const script = [
  turn(call('memory', { command: 'create', path, file_text: 'begin\n' })),
  turn(code(`for n in (1, 2): await memory(command="insert", path="${path}", insert_line=n, insert_text=f"line {n}")`)),
  turn(call('memory', { command: 'str_replace', path, old_str: 'begin', new_str: 'begin begin' })),
  turn(call('memory', { command: 'rename', old_path: path, new_path: '/memories/other' })),
  turn(call('memory', { command: 'view', path: '/memories/other' })),
  answerResult,
]

const crashesOf = (point: Crash['point']) =>
  [1, 2, 3, 4, 5].map((hit): [string, number, Crash[]] => [point, hit, [{ point, hit }]])

it.each([
  ...crashesOf('memory.stored'),
  ...crashesOf('memory.written'),
  [
    'memory.written, and again at the next write',
    1,
    [
      { point: 'memory.written', hit: 1 },
      { point: 'memory.written', hit: 1 },
    ] satisfies Crash[],
  ] as [string, number, Crash[]],
])('each write of a memory happens once when a worker is killed at %s, hit %i', async (_, _hit, crashes) => {
  const folder = await temporaryFolder()
  const { env, deaths } = await startCrashingWorkers(crashes, { config, script, store: join(folder, 'values') })
  const handle = await env.startAgent({ context: { user: 'ada' } })
  const { answer } = (await handle.result()) as AgentResult
  expect(answer).toBe(
    "Here's the content of /memories/other with line numbers:\n     1\tbegin begin\n     2\tline 1\n     3\tline 2",
  )
  expect(deaths()).toBe(crashes.length)
  const contents = (await filesIn(join(folder, 'values-memory'))).filter((file) => file.includes('/blobs/'))
  // The content that counts, and at most one that each dead worker left.
  expect(contents.length).toBeLessThanOrEqual(1 + crashes.length)
  await env.expectCleanEnd(handle)
})
