import { expect, it } from 'vitest'
import type { ProgramResult } from '../../src/common/runs.js'
import { CrashScene } from '../support/crash-scene.js'
import { describeDocker } from '../support/docker.js'
import { DevServerWithFile } from '../support/killable-server.js'
import { noModel } from '../support/script.js'

describeDocker('kill -9 of the Temporal server', () => {
  it('F17: while a tool runs: the run goes on when the server is back', async () => {
    const server = await DevServerWithFile.start()
    const scene = await CrashScene.begin(noModel, { address: server.address })
    scene.ledger.hold('b')
    const handle = await scene.startProgram('print([(await charge(name=n))["done"] for n in "abc"])')
    await scene.ledger.askedFor('b')

    await server.kill()
    scene.ledger.release('b')
    await server.startAgain()

    const result = (await handle.result()) as ProgramResult
    expect(result).toMatchObject({ outcome: { status: 'ok', output: "['a', 'b', 'c']\n" }, toolCalls: 3 })
    expect(scene.ledger.names).toEqual(['a', 'b', 'c'])
    expect(await scene.containersLeft(handle)).toBe(0)
    await scene.replays(handle)
  })
})
