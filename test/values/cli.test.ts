import { writeFile, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LocalStore } from '../../src/values/local-store.js'
import { Project } from '../cli/ptc.js'
import { testTemporal } from '../support/temporal.js'
import { forever } from './conformance.js'

const configuration = "import { defineConfig } from 'durable-ptc'\nexport default defineConfig({ tools: [] })\n"
const day = 86_400_000
let project: Project

beforeEach(async () => {
  project = await Project.create({ 'ptc.config.ts': configuration }, { TEMPORAL_ADDRESS: testTemporal().address })
})
afterEach(() => project[Symbol.asyncDispose]())

/** A value that no run refers to, put so many days ago. */
async function stray(content: string, daysAgo: number): Promise<string> {
  const directory = join(project.folder, '.ptc', 'values')
  const { sha256 } = await new LocalStore(directory).put([Buffer.from(content)], forever)
  const then = new Date(Date.now() - daysAgo * day)
  await utimes(join(directory, sha256.slice(0, 2), sha256.slice(2, 4), sha256), then, then)
  return sha256
}

async function left(): Promise<number> {
  return (JSON.parse((await project.run('values', 'stat', '--json')).stdout) as { readonly count: number }).count
}

describe('ptc values', () => {
  it('stat counts what the store has, by age', async () => {
    expect(await project.run('values', 'stat')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Values +0, 0 B/),
    })
    await stray('x'.repeat(1_500), 0)
    await stray('old', 40)
    const { stdout } = await project.run('values', 'stat')
    expect(stdout).toMatch(/Values +2, 1\.5 kB\n.*Oldest +.* ago/)
    expect(stdout).toMatch(/within an hour +1 +1\.5 kB\nlonger ago +1 +3 B/)
  })

  it('gc removes what no run refers to and is old enough; with --dry-run it only tells', async () => {
    await stray('new', 0)
    await stray('two days old', 2)
    await stray('ten days old', 10)
    const told = await project.run('values', 'gc', '--dry-run', '--older-than', '7d')
    expect(told).toEqual({
      code: 0,
      stdout: 'would remove 1 value, 12 B, of 3, 27 B\n',
      stderr: expect.stringMatching(/^looked through the runs of namespace /),
    })
    expect(await left()).toBe(3)
    const { stdout } = await project.run('values', 'gc', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ dryRun: false, removed: { count: 2, bytes: 24 }, values: { count: 3 } })
    expect(await left()).toBe(1)
  })

  it.each(['59m', '7', 'soon', '-1d'])('gc takes no age of %s', async (age) => {
    const ended = await project.run('values', 'gc', `--older-than=${age}`)
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('It must be a') })
  })
})

describe('ptc doctor', () => {
  it('tries the store, and leaves nothing in it', async () => {
    const { stdout } = await project.run('doctor')
    expect(stdout).toMatch(/^ok +Values: the folder .*values takes them and gives them back$/m)
    expect(await left()).toBe(0)
  })

  it('says what is wrong with it', async () => {
    await writeFile(join(project.folder, 'a-file'), '')
    await project.write(
      'ptc.config.ts',
      configuration.replace('tools: []', "tools: [], values: { store: { kind: 'local', directory: 'a-file/values' } }"),
    )
    const { code, stdout } = await project.run('doctor')
    expect(stdout).toMatch(/^error Values: values can't be kept in .*a-file.values: ENOTDIR/m)
    expect(code).toBe(1)
  })
})
