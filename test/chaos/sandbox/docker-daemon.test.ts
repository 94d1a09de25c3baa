import type { WorkflowHandle } from '@temporalio/client'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { describePrivateDaemon } from '../../support/docker/describe-docker.js'
import { PrivateDockerDaemon } from '../../support/docker/private-daemon.js'
import { answerResult, call, code, noModel, turn } from '../../support/script.js'
import { expectReplays } from '../../support/environment/histories.js'
import { waitForActivity, retryingActivities, scheduledCount } from '../../support/environment/waits.js'
import {
  containerCount,
  releaseCode,
  runningContainerId,
  removeContainersOf,
} from '../../support/environment/containers.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import type { ProcessEnvironment } from '../../support/environment/test-environment.js'
import { completedReplies } from '../../support/environment/completed-replies.js'
import type { Ledger } from '../../support/ledger.js'

/** Waits for a tool, then runs until it is released; `done` is a variable of the previous cell. */
const cells = [
  'done = [(await charge(name="a"))["done"]]',
  `
import os
done.append((await charge(name="b"))["done"])
while BUSY and not os.path.exists("/tmp/go"): pass
done.append((await charge(name="c"))["done"])
print(",".join(done))
`,
]
const script = (busy: boolean) => ({
  conversations: [
    {
      match: { firstUserText: 'no sandbox' },
      turns: [
        turn(call('charge', { name: 'direct' })),
        turn(call('charge', { name: 'with no sandbox' })),
        answerResult,
      ],
    },
    { turns: [...cells.map((cell) => turn(code(cell.replace('BUSY', busy ? 'True' : 'False')))), answerResult] },
  ],
})

/** States of a run in which the fault is injected. */
const moments = {
  'while the code waits for a tool': {
    busy: false,
    reached: (ledger: Ledger) => ledger.waitForRequests('b'),
    goOn: async (ledger: Ledger) => ledger.releaseReplies('b'),
  },
  'while the code runs': {
    busy: true,
    reached: async (ledger: Ledger, handle: WorkflowHandle) => {
      ledger.releaseReplies('b')
      await waitForActivity(handle, 'session.step')
    },
    goOn: (_ledger: Ledger, handle: WorkflowHandle) => releaseCode(handle),
  },
} as const
type Moment = keyof typeof moments
const eachMoment = Object.keys(moments) as Moment[]

/** Injects a fault into a run in this state, and waits for its end; returns the number of its sandboxes. */
async function runThroughFault(
  moment: Moment,
  fault: (env: ProcessEnvironment, handle: WorkflowHandle) => Promise<void>,
  others: { readonly effects: readonly string[]; readonly turns: number } = { effects: [], turns: 0 },
): Promise<number> {
  const { busy, reached: waitUntilReached, goOn: resume } = moments[moment]
  const { env, ledger } = await startWithLedger(script(busy))
  ledger.holdReplies('b')
  const handle = await env.startAgent()
  await ledger.waitForRequests('b')
  await waitUntilReached(ledger, handle)
  await fault(env, handle)
  await resume(ledger, handle)
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'a,b,c', turns: 3, toolCalls: 3 })
  const effects = ['a', 'b', 'c', ...others.effects]
  expect(ledger.appliedNames).toEqual(effects)
  expect(ledger.requests).toHaveLength(effects.length)
  expect(completedReplies(env.api)).toBe(3 + others.turns)
  expect(await containerCount(handle)).toBe(0)
  await expectReplays(env.client, handle)
  return scheduledCount(handle, 'session.open')
}

function usePrivateDaemon(liveRestore: boolean): () => PrivateDockerDaemon {
  let daemon: PrivateDockerDaemon
  beforeAll(async () => {
    daemon = await PrivateDockerDaemon.start({ liveRestore })
    vi.stubEnv('DOCKER_HOST', daemon.host)
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await daemon?.close()
  })
  return () => daemon
}

describePrivateDaemon('kill -9 of a Docker daemon with live-restore', () => {
  const daemon = usePrivateDaemon(true)

  it.each(eachMoment)('F14: kill -9 of dockerd %s: the worker attaches again and repeats nothing', async (moment) => {
    const sandboxes = await runThroughFault(moment, async (_env, handle) => {
      const before = await runningContainerId(handle)
      await daemon().kill()
      await daemon().startProcess()
      expect(await runningContainerId(handle)).toBe(before)
    })
    expect(sandboxes).toBe(1)
  })

  it.each(eachMoment)(
    'F14: kill -9 of containerd %s: the container survives, or the session is rebuilt',
    async (moment) => {
      await runThroughFault(moment, () => daemon().killContainerd())
    },
  )

  it.each(eachMoment)("F14: kill -9 of the container's shim %s: the session is rebuilt", async (moment) => {
    const sandboxes = await runThroughFault(moment, async (_env, handle) => {
      daemon().killShim(await runningContainerId(handle))
    })
    expect(sandboxes).toBe(2)
  })
})

describePrivateDaemon('a Docker daemon without live-restore', () => {
  const daemon = usePrivateDaemon(false)

  it.each(eachMoment)(
    'F14: kill -9 of dockerd without live-restore %s: its containers are lost, and the session is rebuilt',
    async (moment) => {
      const sandboxes = await runThroughFault(moment, async () => {
        await daemon().kill()
        await daemon().startProcess()
      })
      expect(sandboxes).toBe(2)
    },
  )

  it.each(eachMoment)(
    'F14: while dockerd hangs %s, other runs continue; afterwards all runs complete',
    async (moment) => {
      const other = { effects: ['direct', 'with no sandbox'], turns: 3 }
      const hangs = async (env: ProcessEnvironment): Promise<void> => {
        daemon().suspend()
        onTestFinished(() => daemon().resume())
        const opening = await env.startProgram('print("opened")')
        const others = await env.startAgent({ question: 'no sandbox' })
        expect(await env.agentResult(others)).toMatchObject({ status: 'answered', toolCalls: 2 })
        const waiting = { activity: 'session.open', code: 'SANDBOX_BACKEND_DOWN' }
        await expect
          .poll(() => retryingActivities(opening))
          .toMatchObject([{ ...waiting, message: expect.stringContaining('no answer within') }])
        daemon().resume()
        expect(await opening.result()).toMatchObject({ outcome: { status: 'ok', output: 'opened\n' } })
        expect(await containerCount(opening)).toBe(0)
      }
      expect(await runThroughFault(moment, hangs, other)).toBe(1)
    },
  )

  it('F14: a hang of dockerd longer than the cell timeout is not reported as code that does not stop', async () => {
    const { env, ledger } = await startWithLedger(noModel)
    ledger.holdReplies('b')
    const source = 'print((await charge(name="b"))["done"])'
    const { workflowId } = await env.ptc.startProgram({ source, limits: { cellSeconds: 3 } })
    const handle = env.client.workflow.getHandle(workflowId)
    onTestFinished(() => removeContainersOf(handle.workflowId).catch(() => undefined))
    await ledger.waitForRequests('b')
    daemon().suspend()
    onTestFinished(() => daemon().resume())
    ledger.releaseReplies('b')
    const waiting = { activity: 'session.step', code: 'SANDBOX_BACKEND_DOWN' }
    await expect.poll(() => retryingActivities(handle)).toMatchObject([waiting])
    daemon().resume()
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'b\n' } })
    expect(ledger.appliedNames).toEqual(['b'])
    expect(await scheduledCount(handle, 'session.open')).toBe(1)
    expect(await containerCount(handle)).toBe(0)
  })
})
