import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { partBytes } from '../../../src/common/files/files.js'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { type Backend, backends } from '../../support/environment/backends.js'
import { killContainersOf } from '../../support/environment/containers.js'
import { answerResult, call, code, turn } from '../../support/script.js'
import { temporaryFolder } from '../../support/folders.js'
import { backendEnvironment, startCrashingWorkers } from '../support/crashing-workers.js'
import type { Crash } from '../support/failpoint-crashes.js'

const config = fileURLToPath(new URL('../../fixtures/ledger.config.ts', import.meta.url))

/** Two parts. */
const upload = randomBytes(partBytes + 1_000)

const script = [
  turn(
    code(`import os
data = open("/tmp/in/data", "rb").read()
os.makedirs("/tmp/out", exist_ok=True)
open("/tmp/out/copy", "wb").write(data[::-1])
await charge(name="first")`),
  ),
  turn(code('await charge(name="second")\nopen("/tmp/out/sizes", "w").write(str(os.path.getsize("/tmp/out/copy")))')),
  turn(code('print(open("/tmp/out/sizes").read(), len(open("/tmp/in/data", "rb").read()))')),
  answerResult,
]

interface Where {
  readonly backend: Backend
  /** Name of the effect during which the container is killed. */
  readonly lostWith?: string
}

async function expectSurvives(crashes: readonly Crash[], { backend, lostWith }: Where): Promise<void> {
  const store = await temporaryFolder()
  const { env, ledger, deaths } = await startCrashingWorkers(crashes, {
    config,
    script,
    store,
    environment: backendEnvironment(backend, store),
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

// An embedded sandbox ends with its worker, so that each death is a rebuild.
describe.each(backends)('files of a run in %s', (backend) => {
  it.each([
    ['step.result', 1],
    ['files.begins', 1],
    ['value.written', 1],
    ['files.stored', 1],
    ['files.stored', 2],
    ['step.ends', 5],
  ] as const satisfies readonly (readonly [Failpoint, number])[])(
    'no file is lost, and no effect repeated, when a worker is killed at %s, hit %i',
    (point, hit) => expectSurvives([{ point, hit }], { backend }),
  )

  it('no file is lost, and no effect repeated, when a second worker dies during the rebuild', () => {
    const crashes = [
      { point: 'files.stored', hit: 1 },
      { point: backend === 'wasm' ? 'step.repeated' : 'sandbox.attached', hit: 1 },
    ] as const
    return expectSurvives(crashes, { backend })
  })
})

describeDocker('files of a run', () => {
  it('no file is lost, and no effect repeated, when a worker is killed after a frame', () =>
    expectSurvives([{ point: 'frame.sent', hit: 2 }], { backend: 'docker' }))

  it.each(['first', 'second'])(
    'no file is lost, and no effect repeated, when the container is killed during %s',
    (lostWith) => expectSurvives([], { backend: 'docker', lostWith }),
  )

  it('no file is lost, and no effect repeated, when a worker dies while it writes an upload again', () =>
    expectSurvives([{ point: 'step.repeated', hit: 1 }], { backend: 'docker', lostWith: 'second' }))
})

const toolScript = [
  turn(call('render', { name: 'direct' })),
  turn(
    code(`import asyncio, glob
paths = await asyncio.gather(render(name="first"), render(name="second"))
await charge(name="between")
print([open(path, "rb").read(3) for path in [*paths, *glob.glob("/tmp/in/tools/*/direct")]])`),
  ),
  turn(code('import os\nprint([os.path.getsize(path) for path in paths])')),
  answerResult,
]

/** @param isContainerLost the container is killed while the code has its files, and waits for `charge` */
async function expectFilesOfTools(crashes: readonly Crash[], isContainerLost = false): Promise<void> {
  const store = await temporaryFolder()
  const { env, ledger, deaths } = await startCrashingWorkers(crashes, {
    config,
    script: toolScript,
    store,
    environment: { ...backendEnvironment('docker', store), TEST_FILE_TOOL: 'on' },
  })
  if (isContainerLost) ledger.holdReplies('between')
  const run = await env.ptc.startAgent({ question: 'Render.' })
  if (isContainerLost) {
    await ledger.waitForRequests('between')
    expect(await killContainersOf(run.workflowId)).toBe(1)
    ledger.releaseReplies('between')
  }
  const size = 6 * 1024 * 1024 + 1_000
  expect(await run.result()).toMatchObject({ status: 'answered', answer: `[${size}, ${size}]` })
  expect(JSON.stringify(env.api.requests)).toContain("[b'fir', b'sec', b'dir']")
  expect([...ledger.appliedNames].sort()).toEqual(['between', 'direct', 'first', 'second'])
  expect(deaths()).toBe(crashes.length)
  expect((await run.files.list()).map(({ bytes }) => bytes)).toEqual([size, size, size])
  await env.expectCleanEnd(env.client.workflow.getHandle(run.workflowId))
}

describeDocker('files that tools return', () => {
  it.each([
    ['value.written', 1],
    ['value.written', 4],
    ['tool.ran', 1],
    ['tool.ran', 3],
    ['tool.ends', 2],
    ['step.begins', 2],
    ['step.begins', 4],
    ['frame.sent', 6],
    ['step.result', 4],
    ['step.ends', 5],
    ['step.ends', 6],
  ] as const satisfies readonly (readonly [Failpoint, number])[])(
    'no file is lost, and no effect repeated, when a worker is killed at %s, hit %i',
    (point, hit) => expectFilesOfTools([{ point, hit }]),
  )

  it('no file is lost, and no effect repeated, when the container is killed', () => expectFilesOfTools([], true))

  it('no file is lost, and no effect repeated, when a worker dies while it writes a file again', () =>
    expectFilesOfTools([{ point: 'step.repeated', hit: 3 }], true))
})
