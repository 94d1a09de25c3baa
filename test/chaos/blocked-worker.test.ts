import { expect, it } from 'vitest'
import { CrashScene } from '../support/crash-scene.js'
import { describeDocker } from '../support/docker.js'
import { code, text, turn } from '../support/script.js'

const answer = turn(text('it is {{last_tool_result}}'))

describeDocker('a tool that blocks the process of its worker, so that no heartbeat gets out,', () => {
  const blocked = (effect: 'charge' | 'send_once') => [
    turn(code(`try:\n    print((await ${effect}(name="block"))["done"])\nexcept ToolError as e:\n    print(e.status)`)),
    answer,
  ]

  /** A run whose tool blocks the first worker; a second one is there. */
  async function startBlocked(effect: 'charge' | 'send_once') {
    const scene = await CrashScene.begin(blocked(effect))
    const handle = await scene.startAgent()
    await scene.ledger.askedFor('block')
    await scene.startWorker()
    return { scene, handle }
  }

  it('F28: is tried elsewhere under the same key: one effect', async () => {
    const { scene, handle } = await startBlocked('charge')
    expect(await scene.result(handle)).toMatchObject({ status: 'answered', answer: 'it is block' })
    expect(scene.ledger.names).toEqual(['block'])
    expect(scene.ledger.asked.length).toBeGreaterThan(1)
    expect(scene.firstWorker.log).toContain('blocked')
    expect(await scene.containersLeft(handle)).toBe(0)
    await scene.replays(handle)
  })

  it("F28: has an unknown outcome when it is 'once', and is not tried again", async () => {
    const { scene, handle } = await startBlocked('send_once')
    expect(await scene.result(handle)).toMatchObject({ status: 'answered', answer: 'it is outcome_unknown' })
    expect(scene.ledger.asked).toHaveLength(1)
    expect(scene.firstWorker.log).toContain('blocked')
    expect(await scene.containersLeft(handle)).toBe(0)
  })
})
