import { expect, test } from 'vitest'
import { SessionHarness } from '../../../../src/sandbox/conformance/session-harness.js'
import { createDockerBackend } from '../../../../src/sandbox/docker/index.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { execInContainer } from '../../../support/docker/exec-in-container.js'
import { useDockerBackend } from '../../../support/sandbox/docker-sandbox.js'

describeDocker('two workers with one container', () => {
  const backend = useDockerBackend()

  /** A worker whose code runs until `release`, and the next worker of the same session. */
  async function running(source: string) {
    const firstWorker = await new SessionHarness(createDockerBackend()).open()
    const nextWorker = new SessionHarness(backend, {}, firstWorker.session)
    const sandboxes = await backend.listSandboxes()
    const container = sandboxes.find(({ id }) => id.session === firstWorker.session.id)?.containerId ?? ''
    const firstResult = firstWorker.startCell(`import os\n${source}`)
    await expect.poll(() => execInContainer(container, ['test', '-e', '/tmp/runs'])).toBe(0)
    const release = () => execInContainer(container, ['touch', '/tmp/go'])
    return { firstWorker, nextWorker, firstResult, release }
  }

  const untilReleased = 'while not os.path.exists("/tmp/go"): pass'

  test('the next worker detects an interrupt that reached the code before the first worker died', async () => {
    const source = `
try:
  open("/tmp/runs", "w").close()
  while True: pass
except KeyboardInterrupt: pass
${untilReleased}
print("caught")`
    const { firstWorker, nextWorker, firstResult, release } = await running(source)
    expect(await firstWorker.host.interrupt(firstWorker.session, 1)).toBe(true)
    await Promise.allSettled([firstWorker.host.shutdown(), firstResult])
    const again = nextWorker.sendStep(1, { type: 'cell', cell: 1, source: `import os\n${source}` }, 2)
    await release()
    expect(await again).toMatchObject({
      type: 'completed',
      output: 'caught\n',
      interruptedAfterMs: expect.any(Number),
    })
    await nextWorker.close()
  })

  test('a step with the same number after a reset is fenced, and gets no result of the earlier step', async () => {
    const { nextWorker, firstResult, release } = await running(
      `open("/tmp/runs", "w").close()\n${untilReleased}\nprint("firstWorker")`,
    )
    const other = nextWorker.sendStep(1, { type: 'cell', cell: 1, source: 'print("the other")' })
    const refused = expect(other).rejects.toMatchObject({ code: 'SANDBOX_FENCED' })
    await release()
    expect(await firstResult).toMatchObject({ type: 'completed', output: 'firstWorker\n' })
    await refused
    await nextWorker.close()
  })
})
