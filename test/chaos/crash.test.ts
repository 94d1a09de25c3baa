import { describe, expect, it, onTestFinished } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import type { Script } from '../../src/testing/index.js'
import { CrashScene } from '../support/crash-scene.js'
import { describeDocker } from '../support/docker.js'
import { patientSignal } from '../support/patient.js'

const code = (source: string) => ({
  reply: { content: [{ type: 'tool_use' as const, name: 'execute_code', input: { code: source } }] },
})

/** Sequential and parallel calls, code that runs until it is let go on, state from cell to cell. */
const firstCell = `
import asyncio, os
done = [(await charge(name="a"))["done"]]
while BUSY and not os.path.exists("/tmp/go"): pass
done += [r["done"] for r in await asyncio.gather(charge(name="b"), charge(name="c"))]
print(done)
`
const secondCell = 'done.append((await charge(name="d"))["done"])\nprint(",".join(done))'

function script({ busy = false, secondTurnDelayMs = 0 } = {}): Script {
  return [
    code(firstCell.replace('BUSY', busy ? 'True' : 'False')),
    { ...code(secondCell), faults: secondTurnDelayMs ? [{ type: 'delay', attempt: 1, ms: secondTurnDelayMs }] : [] },
    { reply: { content: [{ type: 'text', text: 'charged {{last_tool_result}}' }] } },
  ]
}

/** What must be true whatever was killed: the same answer, each effect once, no turn paid twice, nothing left, replayable. */
async function nothingWasLost(scene: CrashScene, handle: WorkflowHandle): Promise<void> {
  expect(await scene.result(handle)).toMatchObject({
    status: 'answered',
    answer: 'charged a,b,c,d',
    turns: 3,
    cells: 2,
    toolCalls: 4,
  })
  expect(scene.ledger.names).toEqual(['a', 'b', 'c', 'd'])
  expect(scene.answeredTurns).toBe(3)
  expect(await scene.containersLeft(handle)).toBe(0)
  await scene.replays(handle)
}

describeDocker('kill -9', () => {
  it('of the worker while the code waits for a tool: another one reattaches', async () => {
    const scene = await CrashScene.begin(script())
    scene.ledger.hold('b')
    const handle = await scene.startAgent()
    await scene.ledger.askedFor('b')
    await scene.replaceWorker()
    await scene.ledger.askedFor('b', 2) // asked again with the same key
    scene.ledger.release('b')
    await nothingWasLost(scene, handle)
    expect(await scene.count(handle, 'session.open')).toBe(1)
    expect(scene.api.requests).toHaveLength(3)
  })

  it('of the worker while the model answers: only the request in flight is repeated', async () => {
    const scene = await CrashScene.begin(script({ secondTurnDelayMs: 60_000 }))
    const handle = await scene.startAgent()
    await scene.api.waitForRequest(({ assistantMessages }) => assistantMessages === 1, patientSignal())
    await scene.replaceWorker()
    await nothingWasLost(scene, handle)
    expect(await scene.count(handle, 'session.open')).toBe(1)
    expect(scene.api.requests).toHaveLength(4)
  })

  it('of the worker while code runs: the program goes on in its container', async () => {
    const scene = await CrashScene.begin(script({ busy: true }))
    const handle = await scene.startAgent()
    await scene.activityRuns(handle, 'session.advance', 1)
    await scene.replaceWorker()
    await scene.letGoOn(handle)
    await nothingWasLost(scene, handle)
    expect(await scene.count(handle, 'session.open')).toBe(1)
    expect(scene.ledger.asked).toHaveLength(4)
    expect(scene.api.requests).toHaveLength(3)
  })

  it('of the container while the code waits for a tool: the session is rebuilt from the journal', async () => {
    const scene = await CrashScene.begin(script())
    scene.ledger.hold('b')
    const handle = await scene.startAgent()
    await scene.ledger.askedFor('b')
    await scene.killContainer(handle)
    scene.ledger.release('b')
    await nothingWasLost(scene, handle)
    expect(await scene.count(handle, 'session.open')).toBe(2)
    expect(scene.ledger.asked).toHaveLength(4)
    expect(scene.api.requests).toHaveLength(3)
  })

  it('of the container while the model answers: variables of the earlier cell come back', async () => {
    const scene = await CrashScene.begin(script({ secondTurnDelayMs: 15_000 }))
    const handle = await scene.startAgent()
    await scene.api.waitForRequest(({ assistantMessages }) => assistantMessages === 1, patientSignal())
    await scene.killContainer(handle)
    await nothingWasLost(scene, handle)
    expect(await scene.count(handle, 'session.open')).toBe(2)
    expect(scene.ledger.asked).toHaveLength(4)
  })

  it('of the container while code runs: the cell is run again and given its recorded results', async () => {
    const scene = await CrashScene.begin(script({ busy: true }))
    const handle = await scene.startAgent()
    await scene.activityRuns(handle, 'session.advance', 1)
    await scene.killContainer(handle)
    await scene.letGoOn(handle)
    await nothingWasLost(scene, handle)
    expect(await scene.count(handle, 'session.open')).toBe(2)
    expect(scene.ledger.asked).toHaveLength(4)
    expect(scene.api.requests).toHaveLength(3)
  })

  it('F09: of the worker while its run is parked: another host goes on when the answer comes', async () => {
    const scene = await CrashScene.begin(script(), { environment: { TEST_PARK: 'soon' } })
    // Both: a result that comes now would wake the sandbox on the host that is to be lost.
    const both = ['b', 'c']
    for (const effect of both) scene.ledger.hold(effect)
    const handle = await scene.startAgent()
    await Promise.all(both.map((effect) => scene.ledger.askedFor(effect)))
    await expect.poll(() => scene.containersLeft(handle)).toBe(0)
    await scene.isOver(handle, 'session.close')
    await scene.replaceWorker('another-host')
    await Promise.all(both.map((effect) => scene.ledger.askedFor(effect, 2)))
    for (const effect of both) scene.ledger.release(effect)
    await nothingWasLost(scene, handle)
    expect(await scene.count(handle, 'session.open')).toBeGreaterThan(1)
  })

  it('of worker and container together', async () => {
    const scene = await CrashScene.begin(script())
    scene.ledger.hold('c')
    const handle = await scene.startAgent()
    await scene.ledger.askedFor('c')
    await scene.killContainer(handle)
    await scene.replaceWorker()
    await scene.ledger.askedFor('c', 2)
    scene.ledger.release('c')
    await nothingWasLost(scene, handle)
    expect(scene.api.requests).toHaveLength(3)
  })

  it('of the worker under a tool that must not be repeated: the code is told, and the effect stays single', async () => {
    const source = 'try:\n    await send_once(name="mail")\nexcept ToolOutcomeUnknown as e:\n    print(e.status)'
    const scene = await CrashScene.begin([
      code(source),
      { reply: { content: [{ type: 'text', text: 'it is {{last_tool_result}}' }] } },
    ])
    scene.ledger.hold('mail')
    const handle = await scene.startAgent()
    await scene.ledger.askedFor('mail')
    await scene.replaceWorker()
    expect(await scene.result(handle)).toMatchObject({ answer: 'it is outcome_unknown' })
    expect(scene.ledger.asked).toHaveLength(1)
  })

  it('F09: of the whole host: the session is rebuilt on another one', async () => {
    const scene = await CrashScene.begin(script(), { environment: { TEST_HOST_TIMEOUT: 'short' } })
    scene.ledger.hold('b')
    const handle = await scene.startAgent()
    onTestFinished(() => scene.removeContainers(handle))
    await scene.ledger.askedFor('b')
    await scene.replaceWorker('another-host')
    await scene.ledger.askedFor('b', 2)
    scene.ledger.release('b')
    expect(await scene.result(handle)).toMatchObject({ status: 'answered', answer: 'charged a,b,c,d' })
    expect(scene.ledger.names).toEqual(['a', 'b', 'c', 'd'])
    expect(scene.api.requests).toHaveLength(3)
    expect(await scene.count(handle, 'session.open')).toBe(2)
    await scene.replays(handle)
  })
})

describe('kill -9 with the embedded sandbox', () => {
  it('of the worker, and the sandbox with it: the session is rebuilt from the journal', async () => {
    const scene = await CrashScene.begin(script(), { backend: 'wasm' })
    scene.ledger.hold('b')
    const handle = await scene.startAgent()
    await scene.ledger.askedFor('b')
    await scene.replaceWorker()
    await scene.ledger.askedFor('b', 2)
    scene.ledger.release('b')
    expect(await scene.result(handle)).toMatchObject({ status: 'answered', answer: 'charged a,b,c,d' })
    expect(scene.ledger.names).toEqual(['a', 'b', 'c', 'd'])
    expect(scene.api.requests).toHaveLength(3)
    expect(await scene.count(handle, 'session.open')).toBe(2)
    await scene.replays(handle)
  })
})
