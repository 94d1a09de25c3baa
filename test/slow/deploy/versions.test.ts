import { expect, it } from 'vitest'
import { code, text, turn } from '../../support/script.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { Builds } from '../../support/environment/builds.js'
import { releaseCode } from '../../support/environment/containers.js'
import { scheduledCount, waitForActivity } from '../../support/environment/waits.js'

const waiting = 'first = await build()\nawait wait()\nprint(first, await build())'

const script = [turn(code(waiting)), turn(code('print(await build())')), turn(text('{{last_tool_result}}'))]

describeDocker('a deploy of incompatible workflow code, with worker versions', () => {
  it('a deployment leaves runs on their worker version; an agent upgrades at its next turn', async () => {
    const builds = await Builds.start(script)
    const first = await builds.deploy('one', 'v1', true)
    await builds.setCurrent(first)
    const agent = await builds.startAgent()
    const program = await builds.startProgram(waiting)
    const busy = await builds.startProgram('import os\nwhile not os.path.exists("/tmp/go"): pass\nprint(await build())')
    await waitForActivity(busy, 'session.step')
    // The runs are parked: no container runs.
    for (const run of [agent, program]) await expect.poll(() => scheduledCount(run, 'session.close')).toBe(1)

    const second = await builds.deploy('two', 'incompatible', true)
    await builds.setCurrent(second)
    const later = await builds.startProgram('print(await build())')
    expect(await later.result()).toMatchObject({ outcome: { status: 'ok', output: 'two\n' } })
    expect(await builds.buildsOf(later)).toEqual([['two']])

    builds.gate.resolve()
    await releaseCode(busy)
    // A tool runs on the version of its run.
    expect(await program.result()).toMatchObject({ outcome: { status: 'ok', output: 'one one\n' } })
    expect(await busy.result()).toMatchObject({ outcome: { status: 'ok', output: 'one\n' } })
    expect(await agent.result()).toMatchObject({ status: 'answered', answer: 'two' })
    expect(await builds.buildsOf(program)).toEqual([['one']])
    expect(await builds.buildsOf(agent)).toEqual([['one'], ['two']])
    for (const run of [agent, program, busy, later]) expect(await builds.failedTasks(run)).toBe(0)
  })
})

describeDocker('a deploy without worker versions', () => {
  it('a deployment without worker versions continues parked and running runs with code that uses `patched`', async () => {
    const builds = await Builds.start(script)
    const first = await builds.deploy('one', 'v1', false)
    const agent = await builds.startAgent()
    await expect.poll(() => scheduledCount(agent, 'session.close')).toBe(1)
    const busy = await builds.startProgram('import os\nwhile not os.path.exists("/tmp/go"): pass\nprint(await build())')
    await waitForActivity(busy, 'session.step')

    await first.stop()
    await builds.deploy('two', 'patched', false)
    builds.gate.resolve()
    await releaseCode(busy)
    expect(await busy.result()).toMatchObject({ outcome: { status: 'ok', output: 'two\n' } })
    expect(await agent.result()).toMatchObject({ status: 'answered', answer: 'two' })
    for (const run of [agent, busy]) expect(await builds.failedTasks(run)).toBe(0)
  })

  it("a run that the new code can't replay waits until the old code is back", async () => {
    const builds = await Builds.start(script)
    const first = await builds.deploy('one', 'v1', false)
    const program = await builds.startProgram(waiting)
    await expect.poll(() => scheduledCount(program, 'session.close')).toBe(1)

    await first.stop()
    const second = await builds.deploy('two', 'incompatible', false)
    builds.gate.resolve()
    await expect.poll(() => builds.failedTasks(program)).toBeGreaterThan(0)
    expect((await program.describe()).status.name).toBe('RUNNING')

    await second.stop()
    await builds.deploy('three', 'v1', false)
    expect(await program.result()).toMatchObject({ outcome: { status: 'ok', output: 'one three\n' } })
  })
})
