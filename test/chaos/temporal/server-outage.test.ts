import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { PersistentDevServer } from '../../support/temporal/killable-server.js'
import { answerResult, code, turn } from '../../support/script.js'
import { uniqueName } from '../../support/temporal/shared-server.js'
import { expectReplays } from '../../support/environment/histories.js'
import { scheduledCount } from '../../support/environment/waits.js'
import { containerCount, removeContainersOf } from '../../support/environment/containers.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { completedReplies } from '../../support/environment/completed-replies.js'

/** Milliseconds: ten heartbeat timeouts of the workers. */
const downtimeMs = 30_000

const firstCell = 'done = [(await charge(name="NAME"))["done"]]'
const secondCell = 'done.append((await charge(name="NAME"))["done"])\nprint(",".join(done))'
const withName = (source: string, name: string) => source.replace('NAME', name)

describeDocker('kill -9 of the Temporal server, down for 30 seconds', () => {
  it('F17: an agent, a program, a session and waiting clients continue after a server outage', async () => {
    const server = await PersistentDevServer.start()
    const script = [
      turn(code(withName(firstCell, 'agent-1'))),
      turn(code(withName(secondCell, 'agent-2'))),
      answerResult,
    ]
    const { env, ledger } = await startWithLedger(script, { address: server.address })
    const { ptc, client } = env
    const name = uniqueName('away')
    const { workflowId: session } = await ptc.sessions.execute(name, withName(firstCell, 'session-1'))
    onTestFinished(() => removeContainersOf(session))
    const held = ['agent-2', 'program-2', 'session-2']
    for (const effect of held) ledger.holdReplies(effect)
    const agent = await ptc.startAgent({ question: 'go' })
    const program = await ptc.startProgram({
      source: `${withName(firstCell, 'program-1')}\n${withName(secondCell, 'program-2')}`,
    })
    const answers = Promise.all([
      agent.result(),
      program.result(),
      ptc.sessions.execute(name, withName(secondCell, 'session-2')),
    ] as const)
    await Promise.all(held.map((effect) => ledger.waitForRequests(effect)))

    await server.kill()
    for (const effect of held) ledger.releaseReplies(effect)
    await delay(downtimeMs)
    await server.startProcess()

    const [answered, ran, executed] = await answers
    expect(answered).toMatchObject({ status: 'answered', answer: 'agent-1,agent-2', turns: 3, toolCalls: 2 })
    expect(ran).toMatchObject({ outcome: { status: 'ok', output: 'program-1,program-2\n' }, toolCalls: 2 })
    expect(executed).toMatchObject({ outcome: { output: 'session-1,session-2\n' }, isNew: false, cell: 2 })
    expect(ledger.appliedNames).toEqual(['agent-1', 'agent-2', 'program-1', 'program-2', 'session-1', 'session-2'])
    expect(completedReplies(env.api)).toBe(3)
    await ptc.sessions.close(name)
    for (const run of [agent.workflowId, program.workflowId, session]) {
      const handle = client.workflow.getHandle(run)
      expect(await scheduledCount(handle, 'session.open')).toBe(1)
      expect(await containerCount(handle)).toBe(0)
      await expectReplays(env.client, handle)
    }
  })
})
