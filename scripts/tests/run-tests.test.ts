import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const runTestsModule = new URL('./run-tests.mjs', import.meta.url).href

const passes = `it('passes', () => {})`
const fails = `it('fails', () => { throw new Error('wrong in process ' + process.pid) })`
const failsInHook = `beforeAll(() => { throw new Error('wrong hook') }); ${passes}`
const doesNotLoad = `throw new Error('wrong file')`
const endless = `it('is endless', () => new Promise(() => setInterval(() => {}, 1000)))`
const dies = `it('dies', () => process.kill(process.pid, 'SIGKILL'))`
const rejects = `${passes}
  it('continues', async () => {
    Promise.reject(new Error('nobody waits'))
    await new Promise((settle) => setTimeout(settle, 50))
  })`

/** A test that fails in its first run. */
const flaky = (name: string): string => `
  import { existsSync, writeFileSync } from 'node:fs'
  it('passes the second time', () => {
    const ran = new URL('ran-${name}', import.meta.url)
    if (existsSync(ran)) return
    writeFileSync(ran, '')
    throw new Error('wrong once')
  })`

interface Ended {
  readonly code: number
  readonly output: string
  /** The last line of stdout. */
  readonly lastLine: string
}

interface Options {
  readonly repeatsFailedFiles?: boolean
  readonly seconds?: number
  readonly problems?: string[]
}

/** Runs test files, given by name, as the test commands do. `watch` gets all output so far after each new output. */
async function runTests(
  files: Readonly<Record<string, string>>,
  options: Options = {},
  watch: (output: string, child: ChildProcess) => void = () => undefined,
): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), 'ptc-run-tests-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const projects = [{ extends: true, test: { name: 'fixture' } }]
  const config = { test: { globals: true, testTimeout: 0, teardownTimeout: 120_000, maxWorkers: 1, projects } }
  await writeFile(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config)}`)
  for (const [name, code] of Object.entries(files)) await writeFile(join(folder, `${name}.test.mjs`), code)
  const allOptions = { ...options, vitestOptions: ['--root', folder], report: join(folder, 'report.json') }
  const script = `
    import { printCountOnExit, runTests } from ${JSON.stringify(runTestsModule)}
    printCountOnExit()
    process.exit(await runTests([], ${JSON.stringify(allOptions)}))`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script])
  const printed = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].on('data', (chunk: Buffer) => {
      printed[stream] += chunk.toString()
      watch(printed[stream], child)
    })
  }
  const [code] = (await once(child, 'close')) as [number]
  const lastLine = printed.stdout.trimEnd().split('\n').at(-1) ?? ''
  return { code, output: printed.stdout + printed.stderr, lastLine }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

it('the run prints a failure when it happens, and repeats no file by default', async () => {
  const ended = await runTests({ one: `${passes}; it.skip('is skipped', () => {})`, two: flaky('two') })
  expect(ended, ended.output).toMatchObject({ code: 1, lastLine: '1 passed, 1 failed, 1 skipped' })
  const { output } = ended
  expect(output).toContain('failed: fixture two.test.mjs > passes the second time')
  const atOnce = output.indexOf('FAILED  fixture two.test.mjs > passes the second time')
  expect(atOnce).toBeGreaterThan(-1)
  expect(atOnce).toBeLessThan(output.indexOf('Failed Tests'))
})

it('the run passes when a failed file passes by itself, and reports the flaky test twice', async () => {
  const ended = await runTests({ one: passes, two: flaky('two') }, { repeatsFailedFiles: true })
  expect(ended, ended.output).toMatchObject({ code: 0, lastLine: '2 passed, 0 failed, 0 skipped' })
  const told = ended.output.split('flaky: fixture two.test.mjs > passes the second time\n  Error: wrong once\n')
  expect(told).toHaveLength(3)
})

it('the run fails when a file fails again by itself', async () => {
  const ended = await runTests({ one: fails, two: flaky('two') }, { repeatsFailedFiles: true })
  expect(ended, ended.output).toMatchObject({ code: 1, lastLine: '1 passed, 1 failed, 0 skipped' })
  expect(ended.output).toContain('flaky: fixture two.test.mjs > passes the second time')
  expect(ended.output).toContain('failed: fixture one.test.mjs > fails')
})

it('the run fails when more than three files fail, and repeats none of them', async () => {
  const files = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, flaky(name)]))
  const ended = await runTests(files, { repeatsFailedFiles: true })
  expect(ended, ended.output).toMatchObject({ code: 1, lastLine: '0 passed, 4 failed, 0 skipped' })
  expect(ended.output).toContain('4 test files failed: more than 3')
})

it('the run counts a failed hook, a broken file, an unhandled rejection and a dead test process', async () => {
  const ended = await runTests({ hook: failsInHook, load: doesNotLoad, rejection: rejects, dead: dies })
  expect(ended, ended.output).toMatchObject({ code: 1, lastLine: '2 passed, 4 failed, 1 skipped' })
  expect(ended.output).toMatch(/failed: fixture hook.test.mjs > .*\n {2}Error: wrong hook/)
  expect(ended.output).toMatch(/failed: fixture load.test.mjs > .*\n {2}Error: wrong file/)
  expect(ended.output).toMatch(/failed: fixture rejection.test.mjs > .*\n {2}Error: nobody waits/)
  expect(ended.output).toMatch(/failed: fixture dead.test.mjs > /)
})

it('the run counts one failure when its time limit ends it', async () => {
  const ended = await runTests({ one: endless }, { seconds: 8, repeatsFailedFiles: true })
  expect(ended, ended.output).toMatchObject({ code: 1, lastLine: '0 passed, 1 failed, 0 skipped' })
  expect(ended.output).toContain('failed: cut off by the time limit')
})

it('the run prints and counts failures when a signal ends it', async () => {
  const ended = await runTests({ one: `${fails}; ${endless}` }, {}, (output, child) => {
    if (output.includes('FAILED  fixture one.test.mjs > fails')) child.kill('SIGTERM')
  })
  expect(ended, ended.output).toMatchObject({ code: 143, lastLine: '0 passed, 2 failed, 0 skipped' })
  expect(ended.output).toContain('failed: interrupted by SIGTERM; not at their end: fixture one.test.mjs')
  const testProcess = Number(/wrong in process (\d+)/.exec(ended.output)?.[1])
  await expect.poll(() => isThere(testProcess)).toBe(false)
})

it('the run counts failures before the tests, and that no test ran', async () => {
  const ended = await runTests({ one: `it.skip('is skipped', () => {})` }, { problems: ['npm run check'] })
  expect(ended, ended.output).toMatchObject({ code: 1, lastLine: '0 passed, 2 failed, 1 skipped' })
  expect(ended.output).toContain('failed: npm run check')
  expect(ended.output).toContain('failed: no test ran')
})
