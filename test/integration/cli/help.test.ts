import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestProject } from '../../support/cli/ptc.js'

let project: TestProject

beforeAll(async () => {
  project = await TestProject.create({})
})

afterAll(() => project[Symbol.asyncDispose]())

describe('help and version', () => {
  it.each([
    [['--help'], /Usage: ptc[^]*Examples:[^]*Exit codes:[^]* 4 the model gave up/],
    [['help'], /Usage: ptc[^]*Exit codes:/],
    [['help', 'run'], /Usage: ptc run[^]*--detach[^]*Examples:/],
    [['eval', 'compare', '--help'], /Usage: ptc eval compare[^]*--results/],
    [['sessions', 'close', '--help'], /Usage: ptc sessions close[^]*--json/],
    ...[
      'init',
      'dev',
      'worker',
      'run',
      'exec',
      'watch',
      'show',
      'list',
      'cancel',
      'approvals',
      'answer',
      'sessions',
      'values',
      'memory',
      'eval',
      'serve',
      'codec-server',
      'doctor',
    ].map((name): [string[], RegExp] => [[name, '--help'], new RegExp(`Usage: ptc ${name}`)]),
  ])('help and version go to stdout with exit code 0: ptc %j', async (ptcArguments, help) => {
    const { code, stdout, stderr } = await project.run(...ptcArguments)
    expect(stdout).toMatch(help)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  it('ptc --version prints the version of package.json', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      readonly version: string
    }
    expect(await project.run('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('ptc --help ignores a closed stdout', async () => {
    const ptc = project.start('--help')
    ptc.destroyStdout()
    expect(await ptc.result).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('unwritable output', () => {
  it.each(['--help', 'doctor'])("ptc %s fails with the reason when its output can't be written", async (command) => {
    const { code, stderr } = await project.runInShell('exec "$@" >/dev/full', [command])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^ptc: the output is incomplete: .*ENOSPC/m),
    })
  })
})

describe('ptc doctor', () => {
  it('ptc doctor prints all checks and their remedies', async () => {
    const { stdout } = await project.run('doctor')
    for (const name of [
      'Node',
      'Packages',
      'Configuration',
      'Temporal',
      'Docker sandbox',
      'Embedded sandbox',
      'Warm pool',
      'Values',
      'Model',
    ]) {
      expect(stdout).toMatch(new RegExp(`^(ok|warn|error) +${name}: .+`, 'm'))
    }
    expect(stdout).toMatch(/warn +Model: no ANTHROPIC_API_KEY.*\n +→ Set one/)
  })

  it('ptc doctor exits with 1 when a check fails, also with --json', async () => {
    await project.write('broken.ts', 'export default {')
    const { code, stdout } = await project.run('doctor', '--json', '--config', 'broken.ts')
    const checks = JSON.parse(stdout) as { readonly name: string; readonly status: string; readonly message: string }[]
    expect(checks).toContainEqual(
      expect.objectContaining({
        name: 'Configuration',
        status: 'error',
        message: expect.stringContaining('broken.ts'),
      }),
    )
    expect(code).toBe(1)
  })
})
