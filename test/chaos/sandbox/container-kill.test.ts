import Dockerode from 'dockerode'
import type { WorkflowHandle } from '@temporalio/client'
import { expect, it, onTestFinished } from 'vitest'
import type { Script } from '../../../src/testing/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { pollSignal } from '../../support/poll-options.js'
import { answerResult, code, faulty, turn } from '../../support/script.js'
import { uniqueName } from '../../support/temporal/shared-server.js'
import { expectReplays } from '../../support/environment/histories.js'
import { waitForActivity, scheduledCount } from '../../support/environment/waits.js'
import { containerCount, killContainer, releaseCode } from '../../support/environment/containers.js'
import { startWithLedger, type LedgerEnvironment } from '../../support/environment/ledger-environment.js'
import type { ProcessEnvironment } from '../../support/environment/test-environment.js'
import { completedReplies } from '../../support/environment/completed-replies.js'

const cells = [
  `
import asyncio
done = [(await charge(name="a"))["done"]]
done += [r["done"] for r in await asyncio.gather(charge(name="b"), charge(name="c"))]
`,
  `
import os
while BUSY and not os.path.exists("/tmp/go"): pass
done.append((await charge(name="d"))["done"])
print(",".join(done))
`,
]

interface ScriptOptions {
  /** The second cell runs until it is released. */
  readonly busy?: boolean
  /** Number of turns before the delayed one. The delay is below the idle timeout, and longer than a kill takes. */
  readonly delayTurn?: number
}

function script({ busy = false, delayTurn }: ScriptOptions = {}): Script {
  const turns = [
    turn(code(cells[0] ?? '')),
    turn(code((cells[1] ?? '').replace('BUSY', busy ? 'True' : 'False'))),
    answerResult,
  ]
  return turns.map((one, before) =>
    before === delayTurn ? faulty([{ type: 'delay', attempt: 1, ms: 15_000 }], one) : one,
  )
}

type Kill = (env: Pick<ProcessEnvironment, 'api'>, handle: WorkflowHandle) => Promise<void>
const killDuringModelTurn =
  (turns: number): Kill =>
  async ({ api }, handle) => {
    await api.waitForRequest(({ assistantMessages }) => assistantMessages === turns, pollSignal())
    await killContainer(handle)
  }
const killWhileCodeRuns: Kill = async (_env, handle) => {
  await waitForActivity(handle, 'session.step')
  await killContainer(handle)
  await releaseCode(handle)
}

interface Moment {
  readonly kill: Kill | 'a' | 'b' | 'd'
  readonly sandboxes: number
  readonly scriptOptions?: ScriptOptions
}

/** Points in a container's life after its first step, and the expected number of containers. */
const moments: Readonly<Record<string, Moment>> = {
  'code waits for its first call': { kill: 'a', sandboxes: 2 },
  'code waits for two concurrent calls': { kill: 'b', sandboxes: 2 },
  'the model replies to the first cell': {
    kill: killDuringModelTurn(1),
    sandboxes: 2,
    scriptOptions: { delayTurn: 1 },
  },
  'code runs': { kill: killWhileCodeRuns, sandboxes: 2, scriptOptions: { busy: true } },
  'the second cell waits': { kill: 'd', sandboxes: 2 },
  'the model replies to the last cell': { kill: killDuringModelTurn(2), sandboxes: 1, scriptOptions: { delayTurn: 2 } },
}

describeDocker('kill -9 of a container', () => {
  it.each(Object.keys(moments))(
    'F12: kill -9 of a container while %s: applies each effect once and pays each turn once',
    async (name) => {
      const { kill, sandboxes, scriptOptions } = moments[name] ?? expect.fail()
      const { env, ledger } = await startWithLedger(script(scriptOptions))
      if (typeof kill === 'string') ledger.holdReplies(kill)
      const handle = await env.startAgent()
      if (typeof kill === 'string') {
        await ledger.waitForRequests(kill)
        await killContainer(handle)
        ledger.releaseReplies(kill)
      } else await kill(env, handle)
      await expectCompleted({ env, ledger }, handle)
      expect(await scheduledCount(handle, 'session.open')).toBe(sandboxes)
    },
  )

  it.each([1, 2])('F12: a run survives kill -9 of its container at its start, %i times in a row', async (times) => {
    const { env, ledger } = await startWithLedger(script())
    const workflowId = uniqueName('agent')
    const killed = await killOnStart(workflowId, times)
    const handle = await env.startAgent({}, { workflowId })
    await expectCompleted({ env, ledger }, handle)
    expect(killed.count).toBe(times)
  })
})

async function expectCompleted({ env, ledger }: LedgerEnvironment, handle: WorkflowHandle): Promise<void> {
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'a,b,c,d', turns: 3, toolCalls: 4 })
  expect(ledger.appliedNames).toEqual(['a', 'b', 'c', 'd'])
  expect(ledger.requests).toHaveLength(4)
  expect(completedReplies(env.api)).toBe(3)
  expect(await containerCount(handle)).toBe(0)
  await expectReplays(env.client, handle)
}

/** kill -9 of the first containers of a run, as soon as Docker reports their start. */
async function killOnStart(workflowId: string, times: number): Promise<{ readonly count: number }> {
  const docker = new Dockerode()
  const filters = JSON.stringify({ event: ['start'], label: [`ptc.workflow=${workflowId}`] })
  const events = await docker.getEvents({ filters })
  onTestFinished(() => void ('destroy' in events && typeof events.destroy === 'function' && events.destroy()))
  const killed = { count: 0 }
  events.on('data', (line: Buffer) => {
    if (killed.count === times) return
    killed.count += 1
    const { id } = JSON.parse(line.toString()) as { readonly id: string }
    void docker.getContainer(id).kill()
  })
  return killed
}
