import { writeFile, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LocalStore } from '../../../src/values/local/local-store.js'
import { TestProject } from '../../support/cli/ptc.js'
import { sharedServer, useOwnNamespace } from '../../support/temporal/shared-server.js'
import { neverAborted } from '../../support/values/conformance.js'

const configuration = "import { defineConfig } from 'durable-ptc'\nexport default defineConfig({ tools: [] })\n"
const day = 86_400_000
let project: TestProject

beforeEach(async () => {
  await useOwnNamespace()
  const { address, namespace } = sharedServer()
  const environment = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace }
  project = await TestProject.create({ 'ptc.config.ts': configuration }, environment)
})
afterEach(() => project[Symbol.asyncDispose]())

/** Stores a value that no run refers to, with a date `daysAgo` days ago. */
async function putUnreferenced(content: string, daysAgo: number): Promise<string> {
  const directory = join(project.folder, '.ptc', 'values')
  const { sha256 } = await new LocalStore(directory).put([Buffer.from(content)], neverAborted)
  const then = new Date(Date.now() - daysAgo * day)
  await utimes(join(directory, sha256.slice(0, 2), sha256.slice(2, 4), sha256), then, then)
  return sha256
}

async function countValues(): Promise<number> {
  return (JSON.parse((await project.run('values', 'stat', '--json')).stdout) as { readonly count: number }).count
}

describe('ptc values', () => {
  it('ptc values stat counts the values by age', async () => {
    expect(await project.run('values', 'stat')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Values +0, 0 B/),
    })
    await putUnreferenced('x'.repeat(1_500), 0)
    await putUnreferenced('old', 40)
    const { stdout } = await project.run('values', 'stat')
    expect(stdout).toMatch(/Values +2, 1\.5 kB\n.*Oldest +.* ago/)
    expect(stdout).toMatch(/within an hour +1 +1\.5 kB\nlonger ago +1 +3 B/)
  })

  it('ptc values gc removes unreferenced values that are old enough; with --dry-run it only reports', async () => {
    await putUnreferenced('new', 0)
    await putUnreferenced('two days old', 2)
    await putUnreferenced('ten days old', 10)
    const dryRun = await project.run('values', 'gc', '--dry-run', '--older-than', '7d')
    expect(dryRun).toEqual({
      code: 0,
      stdout: 'would remove 1 value, 12 B, of 3, 27 B\n',
      stderr: expect.stringMatching(/^looked through the runs of namespace /),
    })
    expect(await countValues()).toBe(3)
    const { stdout } = await project.run('values', 'gc', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ dryRun: false, removed: { count: 2, bytes: 24 }, values: { count: 3 } })
    expect(await countValues()).toBe(1)
  })

  it.each(['59m', '7', 'soon', '-1d'])('ptc values gc rejects the age %s', async (age) => {
    const result = await project.run('values', 'gc', `--older-than=${age}`)
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining('It must be a') })
  })
})

describe('ptc doctor', () => {
  it('ptc doctor checks the store, and leaves no value in it', async () => {
    const { stdout } = await project.run('doctor')
    expect(stdout).toMatch(/^ok +Values: a test value was written to the folder .*values and read back$/m)
    expect(await countValues()).toBe(0)
  })

  it("ptc doctor reports a store that can't be used", async () => {
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
