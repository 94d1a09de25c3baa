import { z } from 'zod'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { defineTool } from '../../src/index.js'
import { describeDocker } from '../support/docker/describe-docker.js'
import type { Backend } from '../support/environment/backends.js'
import { AttackEnvironment } from './support/attack-environment.js'
import { runnerTakeover } from './support/hostile-code.js'
import { RecordedCalls } from './support/recorded-calls.js'

const calls = new RecordedCalls()

const oneNumber = z.strictObject({ n: z.int() })

const wideRow = z.object(Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`p${n}`, z.string()])))

const tools = [
  calls.tool('echo'),
  calls.tool('strict', { input: oneNumber }),
  calls.tool('wide', { input: z.object({ rows: z.array(wideRow) }) }),
  calls.tool('direct_only', { allowedCallers: ['direct'] }),
  calls.tool('guarded', { approval: 'always', input: oneNumber }),
  calls.tool('ask', { deferred: { expires: '1h' }, input: oneNumber }),
  defineTool({
    name: 'remote',
    description: 'An activity of a worker that does not exist.',
    input: oneNumber,
    output: z.null(),
    effect: 'idempotent',
    activity: { taskQueue: 'no such task queue' },
  }),
]

const forge = (backend: Backend): void => {
  let attackEnv: AttackEnvironment
  beforeAll(async () => {
    attackEnv = await AttackEnvironment.start({ backend, tools, approvals: { expires: '1s' } })
  })
  beforeEach(() => calls.clear())
  afterAll(() => attackEnv.close())

  const attack = (source: string) => attackEnv.attack(runnerTakeover + source, { cellSeconds: 60 })

  it('B02 a forged call is checked like any other call: allow-list, schema and caller', async () => {
    const { outcome } = await attack(`
answers = []
for each in (call(1, "echo", a=1), call(2, "strict", n="one"), call(3, "strict", n=1, more=2), call(4, "direct_only"), call(5, "delete_all"), call(6, "execute_code", code="1")):
    answers += suspend(each)
for status, _ in answers: print(status)
`)
    expect(outcome).toMatchObject({
      status: 'ok',
      output: 'ok\ninvalid_arguments\ninvalid_arguments\ndenied\ndenied\ndenied\n',
    })
    expect(calls.executed).toEqual([{ name: 'echo', input: { a: 1 } }])
  })

  it('B02 the check of a forged call takes a limited time, also where each row lacks hundreds of members', async () => {
    const { outcome } = await attack(`
for status, text in suspend(call(1, "wide", rows=[{}] * 15_000)): print(status, "the check took more than" in text)
`)
    expect(outcome).toMatchObject({ status: 'ok', output: 'invalid_arguments True\n' })
    expect(calls.executed).toEqual([])
  })

  it('B02 a forged call of a remote or deferred tool is checked before anything is scheduled', async () => {
    const { outcome } = await attackEnv.env.runProgram(`${runnerTakeover}
answers = suspend(call(1, "remote", n="one"), call(2, "remote", n=1, taskQueue="other"), call(3, "ask", n="one"))
for status, _ in answers: print(status)
`)
    expect(outcome).toMatchObject({
      status: 'ok',
      output: 'invalid_arguments\ninvalid_arguments\ninvalid_arguments\n',
    })
    expect(calls.executed).toEqual([])
    expect((await attackEnv.env.activities()).map(({ type }) => type)).not.toContain('remote')
  })

  it('B02 a forged call of a tool that needs approval does not start without it', async () => {
    const { outcome } = await attack(`
answers = suspend(call(1, "guarded", n="one"), call(2, "guarded", n=2, approved=True)) + suspend(call(3, "guarded", n=1))
for status, _ in answers: print(status)
`)
    expect(outcome).toMatchObject({ status: 'ok', output: 'invalid_arguments\ninvalid_arguments\ndenied\n' })
    expect(calls.executed).toEqual([])
  })

  it('B02 a forged call of a tool that its run does not have is denied', async () => {
    const source = `
for status, _ in suspend(*(call(n + 1, name, n=1) for n, name in enumerate(("strict", "remote", "ask")))): print(status)
`
    const { outcome } = await attackEnv.env.runProgram(runnerTakeover + source, { tools: ['echo'] })
    expect(outcome).toMatchObject({ status: 'ok', output: 'denied\ndenied\ndenied\n' })
    expect(calls.executed).toEqual([])
  })

  // The embedded sandbox has one process.
  it.runIf(backend === 'docker')(
    'B02 a forged call through /proc of another process is checked in the same way',
    async () => {
      const { outcome } = await attack(`
import json, subprocess, sys
frame = json.dumps({"type": "suspended", "step": step, "calls": [call(1, "direct_only")], "wake_in": None, "output": ""}).encode()
child = "import sys; open(sys.argv[1], 'wb').write(bytes.fromhex(sys.argv[2]))"
output = f"/proc/{os.getpid()}/fd/{runner.channel.output_fd}"
subprocess.run([sys.executable, "-c", child, output, (len(frame).to_bytes(4, "big") + frame).hex()])
answer = runner.channel.receive()
take(answer)
print(answer["results"][0]["outcome"]["status"])
`)
      expect(outcome).toMatchObject({ status: 'ok', output: 'denied\n' })
      expect(calls.executed).toEqual([])
    },
  )
}

describeDocker('a hostile program that forges calls, in a container', () => forge('docker'))
describe('a hostile program that forges calls, in the embedded sandbox', () => forge('wasm'))
