import { expect, test } from 'vitest'
import { Notebook } from '../../src/sandbox/conformance/notebook.js'
import { createDockerBackend } from '../../src/sandbox/docker/index.js'
import { describeDocker } from '../support/docker.js'
import { exitCodeIn } from '../support/exit-code-in.js'
import { patient } from '../support/patient.js'
import { sharedBackend } from './docker-support.js'

describeDocker('two workers at one container', () => {
  const backend = sharedBackend()

  /** A worker whose code has begun, and goes on when it is let; and the worker that comes next. */
  async function running(source: string) {
    const mine = await new Notebook(createDockerBackend()).open()
    const heir = new Notebook(backend, {}, mine.session)
    const sandboxes = await backend.listSandboxes()
    const container = sandboxes.find(({ id }) => id.session === mine.session.id)?.container ?? ''
    const answer = mine.begin(`import os\n${source}`)
    await expect.poll(() => exitCodeIn(container, ['test', '-e', '/tmp/runs']), patient).toBe(0)
    const letGo = () => exitCodeIn(container, ['touch', '/tmp/go'])
    return { mine, heir, answer, letGo }
  }

  const untilLetGo = 'while not os.path.exists("/tmp/go"): pass'

  test('an interrupt that reached the code before its worker died is known to the next', async () => {
    const source = `
try:
  open("/tmp/runs", "w").close()
  while True: pass
except KeyboardInterrupt: pass
${untilLetGo}
print("caught")`
    const { mine, heir, answer, letGo } = await running(source)
    expect(await mine.host.interrupt(mine.session, 1)).toBe(true)
    await Promise.allSettled([mine.host.shutdown(), answer])
    const again = heir.send(1, { type: 'cell', cell: 1, source: `import os\n${source}` }, 2)
    await letGo()
    expect(await again).toMatchObject({
      type: 'completed',
      output: 'caught\n',
      interruptedAfterMs: expect.any(Number),
    })
    await heir.close()
  })

  test('with two steps of the same number, of a run and of what it was reset to, do not get the answer of each other', async () => {
    const { heir, answer, letGo } = await running(`open("/tmp/runs", "w").close()\n${untilLetGo}\nprint("mine")`)
    const other = heir.send(1, { type: 'cell', cell: 1, source: 'print("the other")' })
    const refused = expect(other).rejects.toMatchObject({ code: 'SANDBOX_FENCED' })
    await letGo()
    expect(await answer).toMatchObject({ type: 'completed', output: 'mine\n' })
    await refused
    await heir.close()
  })
})
