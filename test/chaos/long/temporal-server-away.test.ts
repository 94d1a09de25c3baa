import { setTimeout as passing } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { CrashScene } from '../../support/crash-scene.js'
import { describeDocker } from '../../support/docker.js'
import { DevServerWithFile } from '../../support/killable-server.js'
import { answerResult, code, turn } from '../../support/script.js'
import { uniqueName } from '../../support/temporal.js'

/** Ten heartbeat timeouts of the workers. */
const awayMs = 30_000

const load = 'done = [(await charge(name="NAME"))["done"]]'
const more = 'done.append((await charge(name="NAME"))["done"])\nprint(",".join(done))'
const named = (source: string, name: string) => source.replace('NAME', name)

describeDocker('kill -9 of the Temporal server, away for 30 seconds', () => {
  it('F17: an agent, a program and a session go on, and who waited for them all the time is answered', async () => {
    const server = await DevServerWithFile.start()
    const script = [turn(code(named(load, 'agent-1'))), turn(code(named(more, 'agent-2'))), answerResult]
    const scene = await CrashScene.begin(script, { address: server.address })
    const { ledger, ptc, client } = scene
    const name = uniqueName('away')
    const { workflowId: session } = await ptc.sessions.execute(name, named(load, 'session-1'))
    onTestFinished(() => scene.removeContainers(client.workflow.getHandle(session)))
    const held = ['agent-2', 'program-2', 'session-2']
    for (const effect of held) ledger.hold(effect)
    const agent = await ptc.startAgent({ question: 'go' })
    const program = await ptc.startProgram({ source: `${named(load, 'program-1')}\n${named(more, 'program-2')}` })
    const answers = Promise.all([
      agent.result(),
      program.result(),
      ptc.sessions.execute(name, named(more, 'session-2')),
    ] as const)
    await Promise.all(held.map((effect) => ledger.askedFor(effect)))

    await server.kill()
    for (const effect of held) ledger.release(effect)
    await passing(awayMs)
    await server.startAgain()

    const [answered, ran, executed] = await answers
    expect(answered).toMatchObject({ status: 'answered', answer: 'agent-1,agent-2', turns: 3, toolCalls: 2 })
    expect(ran).toMatchObject({ outcome: { status: 'ok', output: 'program-1,program-2\n' }, toolCalls: 2 })
    expect(executed).toMatchObject({ outcome: { output: 'session-1,session-2\n' }, isNew: false, cell: 2 })
    expect(ledger.names).toEqual(['agent-1', 'agent-2', 'program-1', 'program-2', 'session-1', 'session-2'])
    expect(scene.answeredTurns).toBe(3)
    await ptc.sessions.close(name)
    for (const run of [agent.workflowId, program.workflowId, session]) {
      const handle = client.workflow.getHandle(run)
      expect(await scene.count(handle, 'session.open')).toBe(1)
      expect(await scene.containersLeft(handle)).toBe(0)
      await scene.replays(handle)
    }
  })
})
