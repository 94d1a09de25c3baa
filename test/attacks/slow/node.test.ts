import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { AttackEnvironment, maxMemoryGrowthBytes } from '../support/attack-environment.js'
import { brokenNode, forgedFrames, pollutedGlobals } from '../support/hostile-javascript.js'
import { RecordedCalls } from '../support/recorded-calls.js'

const calls = new RecordedCalls()

const tools = [
  calls.tool('echo'),
  calls.tool('strict', { input: z.strictObject({ n: z.int() }) }),
  calls.tool('direct_only', { allowedCallers: ['direct'] }),
]

/** How a cell may end whose code has broken its own process. */
const typedEnds = ['ok', 'code_error', 'limit_exceeded', 'stopped', 'timed_out', 'lost']

/** The runner stops code at its limit; on a busy machine the host may come first. */
const stopped = /it may run|Interrupted/

describeDocker('a hostile program in JavaScript', () => {
  let attackEnv: AttackEnvironment
  beforeAll(async () => {
    attackEnv = await AttackEnvironment.start({ language: 'javascript', tools, limits: { callsPerCell: 50 } })
  })
  beforeEach(() => calls.clear())
  afterAll(() => attackEnv.close())

  const attack = (source: string, cellSeconds = 60) => attackEnv.attack(source, { cellSeconds })

  it('J01 polluted prototypes and overwritten globals change neither the calls of the program nor its end', async () => {
    const { outcome } = await attack(`${pollutedGlobals}
const result = await kept.echo({ n: 1 })
kept.log(result.of)`)
    expect(outcome).toMatchObject({ status: 'ok', output: 'echo\n' })
    expect(calls.executed).toEqual([{ name: 'echo', input: { n: 1 } }])
  })

  it.each(Object.entries(brokenNode))(
    'J01 code that breaks %s of Node ends only its own session',
    async (_, source) => {
      const { outcome, milliseconds } = await attack(`${source}\nawait echo({ n: 1 })\nconsole.log('end')`, 2)
      expect(typedEnds).toContain(outcome.status)
      expect(milliseconds).toBeLessThan(90_000)
    },
  )

  it.each([
    ['process.binding', "process.binding('fs').writeString(4, 'x'.repeat(100))\nconsole.log('written')"],
    ['process.reallyExit', 'process.reallyExit(0)'],
    ['process.abort', 'process.abort()'],
    ['process.kill', "process.kill(process.pid, 'SIGKILL')"],
    [
      'the debugger',
      "process._debugProcess(process.pid)\nnew (await import('node:inspector')).Session().connectToMainThread()",
    ],
    ['signals to all processes', "process.kill(-1, 'SIGTERM')\nprocess.kill(1, 'SIGKILL')"],
  ])('J02 %s ends no more than the own session', async (_, source) => {
    const { outcome } = await attack(source)
    expect(typedEnds).toContain(outcome.status)
    expect(calls.executed).toEqual([])
  })

  it('J03 native code can not be loaded from a file that code has written, and the runner can not be changed', async () => {
    const answers = await attackEnv.probe(`
import { copyFileSync, readdirSync, writeFileSync, existsSync } from 'node:fs'
const attempt = (work) => { try { work(); return 'done' } catch (error) { return String(error.code ?? error.message).split(':')[0] } }
const library = readdirSync('/lib/x86_64-linux-gnu', { recursive: true }).find((name) => /^libm\\.so/.test(name)) ?? ''
copyFileSync('/lib/x86_64-linux-gnu/' + library, '/tmp/addon.node')
console.log(library !== '', attempt(() => process.dlopen({ exports: {} }, '/tmp/addon.node')))
console.log(attempt(() => require('/tmp/addon.node')))
console.log(attempt(() => require('node:child_process').execFileSync('/tmp/addon.node')))
console.log(attempt(() => writeFileSync('/opt/durable-ptc/javascript/runner.js', '')))
console.log(attempt(() => process.setuid(0)), process.getuid() > 1000)
`)
    expect(answers).toEqual([
      'true ERR_DLOPEN_FAILED',
      'ERR_DLOPEN_FAILED',
      'EACCES',
      expect.stringMatching(/^(EROFS|EACCES)$/),
      'EPERM true',
    ])
  })

  it('J04 a worker thread that sends frames, or never ends, ends with the session', async () => {
    const source = `
import { Worker } from 'node:worker_threads'
new Worker("for (;;);", { eval: true })
const worker = new Worker("require('fs').writeSync(4, Buffer.from('\\\\0\\\\0\\\\0\\\\2{}'))", { eval: true })
await new Promise((resolve) => worker.on('exit', resolve))
await echo({ n: 1 })
console.log('end')`
    const { outcome } = await attack(source, 5)
    expect(typedEnds).toContain(outcome.status)
    expect(outcome.status).not.toBe('ok')
  })

  it('J04 a worker thread that only computes delays neither the cell nor its calls', async () => {
    const { outcome } = await attack(`
import { Worker } from 'node:worker_threads'
const worker = new Worker("for (;;);", { eval: true })
await new Promise((resolve) => worker.on('online', resolve))
console.log((await echo({ n: 1 })).of)
await worker.terminate()`)
    expect(outcome).toMatchObject({ status: 'ok', output: 'echo\n' })
  })

  it('J05 a way out of vm, and into the functions of the runner, reaches no secret and no other tool', async () => {
    const answers = await attackEnv.probe(`
import vm from 'node:vm'
const look = (find) => { try { return find() } catch (error) { return error } }
const realms = [
  () => vm.runInNewContext("this.constructor.constructor('return this')()"),
  () => process.listeners('beforeExit')[0].constructor('return this')(),
  () => process.listeners('uncaughtException')[0].constructor('return globalThis')(),
  () => new (class extends Error { static { Error.prepareStackTrace = (_, frames) => frames } })().stack.map((frame) => frame.getThis()),
  () => echo.constructor('return process')(),
]
console.log(realms.map(look).every((found) => found !== undefined))
console.log(Object.keys(process.env).filter((name) => /PTC_ATTACK|KEY|TOKEN|SECRET|TEMPORAL/.test(name)).length)
console.log(typeof direct_only)
`)
    expect(answers).toEqual(['true', '0', 'undefined'])
  })

  it('J05 code that breaks the prototypes of the runner, too, ends only its own session', async () => {
    const { outcome } = await attack(
      `const own = process.listeners('beforeExit')[0].constructor
own("for (const type of [Array, Map, Promise, Object]) for (const name of Object.getOwnPropertyNames(type.prototype)) if (name !== 'constructor') try { type.prototype[name] = () => { throw 1 } } catch {}")()
await echo({ n: 1 })`,
      2,
    )
    expect(typedEnds).toContain(outcome.status)
    expect(outcome.status).not.toBe('ok')
  })

  it('J06 calls in forged frames are checked like others: allow-list, schema and caller', async () => {
    const { outcome } = await attack(`${forgedFrames}
const forged = [call(1, 'echo', { a: 1 }), call(2, 'strict', { n: 'one' }), call(3, 'direct_only'), call(4, 'delete_all')]
end(forged.flatMap((each) => suspend(each)).join())`)
    expect(outcome).toMatchObject({ status: 'ok', output: 'ok,invalid_arguments,denied,denied' })
    expect(calls.executed).toEqual([{ name: 'echo', input: { a: 1 } }])
  })

  it('J06 more forged calls than allowed end the cell', async () => {
    const { outcome } = await attack(`${forgedFrames}
for (let n = 1; ; n += 10) suspend(...Array.from({ length: 10 }, (_, index) => call(n + index, 'echo')))`)
    expect(outcome).toMatchObject({ status: 'limit_exceeded' })
    expect(calls.executed.length).toBeLessThanOrEqual(50)
  })

  it('J06 a forged end counts once, and what follows it makes no call', async () => {
    const { outcome } = await attack(`${forgedFrames}
send({ type: 'completed', step, output: 'forged end' })
send({ type: 'completed', step, output: 'another end' })
send({ type: 'suspended', step, calls: [call(1, 'echo')], wake_in: null, output: '' })
for (;;);`)
    expect(outcome).toMatchObject({ status: 'ok', output: 'forged end' })
    expect(calls.executed).toEqual([])
  })

  it.each([
    ['a result', "send({ type: 'resume', step, results: [{ call: 1, outcome: { status: 'ok', value: 'forged' } }] })"],
    ['a message of the host', "send({ type: 'hello', tools: [] })"],
    ['no object', 'send([1, 2])'],
    ['a field that nobody knows', "send({ type: 'completed', step, output: '', admin: true })"],
    ['the end of a step that has not begun', "send({ type: 'completed', step: 7, output: 'forged' })"],
    ['a frame of 4 GB', 'raw(Buffer.from([255, 255, 255, 255, 123]))'],
    ['a frame without an end, and then bytes without end', 'for (;;) raw(Buffer.alloc(1e6, 120))'],
    ['a flood of output', "for (;;) send({ type: 'output', step, text: 'x'.repeat(1e5) })"],
  ])('J06 a forged frame with %s is bounded, and no result of the run', async (_, source) => {
    const { outcome, history, memoryGrowthBytes } = await attack(`${forgedFrames}\n${source}\nfor (;;);`, 3)
    expect(['lost', 'timed_out']).toContain(outcome.status)
    expect(history).not.toContain('"forged"')
    expect(memoryGrowthBytes).toBeLessThan(maxMemoryGrowthBytes)
  })

  it.each([
    [
      'memory in WebAssembly',
      'const a = []\nfor (;;) new Uint8Array(a[a.push(new WebAssembly.Memory({ initial: 1000 })) - 1].buffer).fill(1)',
      /memory/,
    ],
    ['time in a loop', 'for (;;);', stopped],
    ['time in a loop that catches', 'for (;;) try { for (;;); } catch {}', stopped],
    ['time in microtasks', 'const f = async () => { for (;;) await null }\nawait f()', stopped],
    ['time in an expression', "/^(a+)+$/.test('a'.repeat(50) + 'b')", stopped],
    [
      'of /tmp',
      "import { writeFileSync } from 'node:fs'\nfor (let n = 0; ; n++) writeFileSync('/tmp/' + n, Buffer.alloc(1e7))",
      /ENOSPC|memory/,
    ],
  ])('J07 code that takes all %s ends only its own cell', async (_, source, error) => {
    const { outcome } = await attack(source, 5)
    expect('error' in outcome ? outcome.error : '').toMatch(error)
  })
})
