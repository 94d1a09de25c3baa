import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { partBytes } from '../../../src/common/files/files.js'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { killContainersOf } from '../../support/environment/containers.js'
import { answerResult, code, turn } from '../../support/script.js'
import { temporaryFolder } from '../../support/folders.js'
import { startCrashingWorkers } from '../support/crashing-workers.js'
import type { Crash } from '../support/failpoint-crashes.js'

const config = fileURLToPath(new URL('../../fixtures/ledger.config.ts', import.meta.url))

/** Two parts. */
const upload = randomBytes(partBytes + 1_000)

const script = [
  turn(
    code(`import os
data = open("/tmp/in/data", "rb").read()
os.makedirs("/tmp/out")
open("/tmp/out/copy", "wb").write(data[::-1])
await charge(name="first")`),
  ),
  turn(code('await charge(name="second")\nopen("/tmp/out/sizes", "w").write(str(os.path.getsize("/tmp/out/copy")))')),
  turn(code('print(open("/tmp/out/sizes").read(), len(open("/tmp/in/data", "rb").read()))')),
  answerResult,
]

/** @param lostWith name of the effect during which the container is killed */
async function expectSurvives(crashes: readonly Crash[], lostWith?: string): Promise<void> {
  const store = await temporaryFolder()
  const { env, ledger, deaths } = await startCrashingWorkers(crashes, {
    config,
    script,
    store,
    environment: {
      TEST_BACKEND: 'docker',
      TEST_WARM: '0',
      TEST_VALUE_STORE: JSON.stringify({ kind: 'local', directory: store }),
    },
  })
  if (lostWith !== undefined) ledger.holdReplies(lostWith)
  const run = await env.ptc.startAgent({ question: 'Copy it.', files: [{ data: upload, path: 'data' }] })
  if (lostWith !== undefined) {
    await ledger.waitForRequests(lostWith)
    expect(await killContainersOf(run.workflowId)).toBe(1)
    ledger.releaseReplies(lostWith)
  }
  expect(await run.result()).toMatchObject({ status: 'answered', answer: `${upload.length} ${upload.length}` })
  expect(ledger.appliedNames).toEqual(['first', 'second'])
  expect(deaths()).toBe(crashes.length)
  expect((await run.files.list()).map(({ path }) => path)).toEqual(['/tmp/in/data', '/tmp/out/copy', '/tmp/out/sizes'])
  expect((await buffer(run.files.read('/tmp/out/copy'))).equals(Buffer.from(upload.toReversed()))).toBe(true)
  await env.expectCleanEnd(env.client.workflow.getHandle(run.workflowId))
}

describeDocker('files of a run', () => {
  it.each([
    ['frame.sent', 2],
    ['step.result', 1],
    ['files.begins', 1],
    ['value.written', 1],
    ['files.stored', 1],
    ['files.stored', 2],
    ['step.ends', 5],
  ] as const satisfies readonly (readonly [Failpoint, number])[])(
    'no file is lost, and no effect repeated, when a worker is killed at %s, hit %i',
    (point, hit) => expectSurvives([{ point, hit }]),
  )

  it.each(['first', 'second'])(
    'no file is lost, and no effect repeated, when the container is killed during %s',
    (name) => expectSurvives([], name),
  )

  it('no file is lost, and no effect repeated, when a worker dies while it writes an upload again', () =>
    expectSurvives([{ point: 'step.repeated', hit: 1 }], 'second'))
})
