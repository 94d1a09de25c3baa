import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { splitText, type TextRange } from '../../../src/common/text/text-ranges.js'
import { type RunnerMessage, runnerMessageSchema } from '../../../src/sandbox/protocol/messages.js'
import { completed, programs, repeated } from '../../support/languages/javascript-programs.js'
import { temporaryFolder } from '../../support/folders.js'
import { JavaScriptRunner } from '../../support/sandbox/javascript-runner.js'

describe('the runner of JavaScript', () => {
  it.each(Object.entries(programs))('JavaScript: %s', async (_, [cells, expected]) => {
    const runner = await JavaScriptRunner.start()
    let last: Awaited<ReturnType<typeof runner.run>> | undefined
    for (const cell of cells) last = await runner.run(cell)
    if (typeof expected === 'string') expect(last).toMatchObject({ output: expected, end: completed })
    else expect(last?.end).toMatchObject(expected)
  })
})

it('JavaScript: a failed call is an error of its class', async () => {
  const runner = await JavaScriptRunner.start()
  const source = `
try { await get({ id: 1 }) } catch (error) {
  console.log(error.name, error instanceof ToolError, error instanceof ToolDenied, error.message, error.tool, error.status)
}`
  const answer = () => [{ index: 1, outcome: { status: 'denied', message: 'not today' } }]
  expect((await runner.run(source, answer)).output).toBe('ToolDenied true true not today get denied\n')
})

it('JavaScript: results in another order, and one at a time, reach the right calls', async () => {
  const runner = await JavaScriptRunner.start()
  runner.startCell(`
const order = []
const all = [1, 2, 3].map(async (id) => { order.push((await get({ id })).id) })
console.log((await Promise.race([get({ id: 'a' }), get({ id: 'b' })])).id)
await Promise.all(all)
console.log(order.join())`)
  const first = await runner.result()
  expect(first).toMatchObject({ type: 'suspended', wake_in: null, calls: [1, 2, 3, 4, 5].map((call) => ({ call })) })
  const ok = (index: number, id: unknown) => ({ index, outcome: { status: 'ok', value: { id } as never } })
  runner.resume([ok(5, 'b'), ok(3, 3)])
  expect(await runner.result()).toMatchObject({ type: 'suspended', calls: [], output: 'b\n' })
  runner.resume([ok(1, 1), ok(4, 'a')])
  expect(await runner.result()).toMatchObject({ type: 'suspended', calls: [] })
  runner.resume([ok(2, 2)])
  expect(await runner.result()).toMatchObject({ type: 'completed', output: '3,1,2\n' })
})

/** The text that a result has of each stream. */
function streamsOf({
  output,
  stderr = [],
}: {
  readonly output: string
  readonly stderr?: readonly TextRange[] | undefined
}) {
  const { inside, outside } = splitText(output, stderr)
  return { stdout: outside, stderr: inside }
}

it('JavaScript: output has the order of all writes, and the stream of each', async () => {
  const runner = await JavaScriptRunner.start()
  const child = (command: string) => `execSync(${JSON.stringify(command)}, { stdio: "inherit" })`
  const start = 'import { execSync } from "node:child_process"; import { writeSync } from "node:fs"\n'
  const cells: readonly (readonly [source: string, output: string, stderr: string])[] = [
    [
      'console.log("é🎉"); console.error("🎉ü"); process.stdout.write("a"); console.warn("b")',
      'é🎉\n🎉ü\nab\n',
      '🎉ü\nb\n',
    ],
    [`${start}writeSync(2, "a\\n"); console.log("b"); writeSync(1, "c\\n")`, 'a\nb\nc\n', 'a\n'],
    [
      `console.log(1); ${child('echo 2 >&2')}; console.log(3); ${child('echo 4; echo 5 >&2')}`,
      '1\n2\n3\n4\n5\n',
      '2\n5\n',
    ],
    [child('echo x >&2'), 'x\n', 'x\n'],
    [child('echo x >&2'), 'x\n', 'x\n'],
    [child('echo x'), 'x\n', ''],
    ['Promise.reject(new Error("lost")); console.log(1); process.exit(0)', '1\n', ''],
  ]
  for (const [source, output, stderr] of cells) {
    const { end } = await runner.run(source)
    expect(end).toMatchObject({ output })
    expect('output' in end && streamsOf(end)).toMatchObject({ stderr })
  }
})

it('JavaScript: much output keeps its head, its tail, and the streams of both', async () => {
  const runner = await JavaScriptRunner.start()
  const source = `
process.stderr.write("start")
for (let n = 0; n < 30; n += 1) process.stdout.write("é🎉".repeat(20_000))
for (let n = 0; n < 1_000; n += 1) { process.stdout.write("o"); process.stderr.write("e") }`
  const { end } = await runner.run(source)
  expect(end).toMatchObject({ type: 'completed', output: expect.stringMatching(/^starté🎉[^]*cut[^]*oeoe$/) })
  if (end.type !== 'completed') throw new Error('it was completed')
  expect(end.output.length).toBeLessThanOrEqual(20_000)
  expect(streamsOf(end).stderr).toBe('e'.repeat(250))
  const { output } = await runner.run('console.log("next")')
  expect(output).toBe('next\n')
})

it('JavaScript: the end of a cell has its exit code and what it used', async () => {
  const runner = await JavaScriptRunner.start()
  for (const [argument, code] of [
    ['3', 3],
    ['300', 44],
    ['-1', 255],
    ['"7"', 7],
    ['{}', undefined],
    ['NaN', undefined],
  ]) {
    const { end } = await runner.run(`process.exit(${argument})`)
    expect(end).toMatchObject({ type: 'failed' })
    expect('exit_code' in end ? end.exit_code : undefined).toBe(code)
  }
  const busy =
    'const end = process.hrtime.bigint; const t = process.cpuUsage(); while (process.cpuUsage(t).user < 200_000);'
  const { end } = await runner.run(`${busy}\nawait get({ id: 1 })\nawait new Promise((r) => setTimeout(r, 3_600_000))`)
  const { usage } = runnerMessageSchema.parse(end) as Extract<RunnerMessage, { type: 'completed' }>
  expect(usage?.cpu_ms).toBeGreaterThanOrEqual(200)
  expect(usage?.run_ms).toBeGreaterThanOrEqual(190)
  expect(usage?.run_ms).toBeLessThan(60_000)
  const peaks: number[] = []
  for (const source of ['1', 'Buffer.alloc(80_000_000, 1).length', '1']) {
    const { end: each } = await runner.run(source)
    peaks.push(
      (runnerMessageSchema.parse(each) as typeof end & { usage: { peak_memory_bytes: number } }).usage
        .peak_memory_bytes,
    )
  }
  expect(peaks[1]).toBeGreaterThan((peaks[0] ?? 0) + 60_000_000)
})

it('JavaScript: a cell that reached its time limit reports what it used', async () => {
  const runner = await JavaScriptRunner.start()
  const { end } = await runner.run('for (;;);')
  expect(end).toMatchObject({ kind: 'timed_out', usage: { run_ms: expect.any(Number) as number } })
  expect('usage' in end && end.usage?.run_ms).toBeGreaterThanOrEqual(1_900)
})

it('JavaScript: an interrupt ends a busy loop, and the session lives', async () => {
  const runner = await JavaScriptRunner.start()
  runner.startCell('let n = 1; console.log("started"); for (;;) n += 0')
  setTimeout(() => runner.interrupt(), 300)
  const result = await runner.result()
  expect(result).toMatchObject({ type: 'failed', kind: 'stopped', output: 'started\n' })
  expect(result).toHaveProperty('interrupted_after')
  expect((await runner.run('console.log(n)')).output).toBe('1\n')
})

it('JavaScript: a stopped cell makes no further call, and its timers are gone', async () => {
  const runner = await JavaScriptRunner.start()
  runner.startCell('setInterval(() => get({ id: 2 }), 1000); await get({ id: 1 }); await get({ id: 3 })')
  expect(await runner.result()).toMatchObject({ type: 'suspended', calls: [{ call: 1 }] })
  runner.resume([], 1, 'it took too long')
  expect(await runner.result()).toMatchObject({ type: 'failed', kind: 'timed_out', error: 'it took too long' })
  expect(await runner.run('console.log("next")')).toMatchObject({ output: 'next\n', end: completed })
})

it('JavaScript: a program that waits for a file is not suspended before it has made the calls that follow', async () => {
  const runner = await JavaScriptRunner.start()
  // The four threads of the pool are busy, so that the file has to wait.
  runner.startCell(`
    const { pbkdf2 } = require('node:crypto')
    const { readFile } = require('node:fs/promises')
    for (let n = 0; n < 4; n += 1) pbkdf2('x', 'y', 60_000, 64, 'sha512', () => {})
    await Promise.all([get({ id: 1 }), readFile('/etc/hostname').then(() => get({ id: 2 }))])`)
  expect(await runner.result()).toMatchObject({ type: 'suspended', calls: [{ call: 1 }, { call: 2 }] })
})

it('JavaScript: a program that waits for a file for ever is suspended', async () => {
  const runner = await JavaScriptRunner.start()
  const pipe = JSON.stringify(join(await temporaryFolder(), 'pipe'))
  runner.startCell(`
    require('node:child_process').execFileSync('mkfifo', [${pipe}])
    await Promise.all([get({ id: 1 }), require('node:fs/promises').readFile(${pipe})])`)
  expect(await runner.result()).toMatchObject({ type: 'suspended', calls: [{ call: 1 }], wake_in: 0.05 })
})

it('JavaScript: a repeated step gets the same result, and older fences and other steps are refused', async () => {
  const runner = await JavaScriptRunner.start()
  await runner.run('let count = 0; count += 1; console.log(count)')
  const [step] = runner.steps
  if (step?.type !== 'cell') throw new Error('no step')
  runner.send(step)
  expect(await runner.result()).toEqual(runner.results[0])
  runner.send({ ...step, digest: 'other' })
  expect(await runner.result()).toMatchObject({ type: 'refused', kind: 'fenced' })
  runner.send({ ...step, fence: [0, 9, 1], step: 2, digest: 'x' })
  expect(await runner.result()).toMatchObject({ type: 'refused', kind: 'fenced', fence: [0, 9, 1] })
  runner.send({ ...step, fence: [1, 7, 1], step: 7, digest: 'x' })
  expect(await runner.result()).toMatchObject({ type: 'refused', kind: 'invalid' })
})

it.each(Object.entries(repeated))(
  'JavaScript: a new process repeats the steps of a program with %s',
  async (_, source) => {
    const first = await JavaScriptRunner.start()
    await first.run(source)
    const second = await JavaScriptRunner.start()
    for (const [index, step] of first.steps.entries()) {
      second.send(step)
      const repeated = await second.result()
      const { usage } = { usage: undefined, ...repeated }
      expect(repeated).toEqual({ ...first.results[index], ...(usage && { usage }) })
    }
    expect(first.steps.length).toBeGreaterThan(0)
  },
)
