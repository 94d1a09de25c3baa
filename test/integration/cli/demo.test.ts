import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { TestProject } from '../../support/cli/ptc.js'

const checkout = fileURLToPath(new URL('../../..', import.meta.url))

it('the demo without an API key says that its model is scripted, shows code and output, and answers', async () => {
  await using project = await TestProject.create({}, { TEMPORAL_ADDRESS: '127.0.0.1:1' })
  const demo = ['scripts/demo.mjs', '--sandbox', 'wasm']
  const options = { cwd: checkout, env: project.environment }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, demo, options)
  expect(stderr).toContain('a scripted model replies, because the worker found no API key')
  expect(stderr).toContain('sandbox: Pyodide')
  expect(stderr).toMatch(/await get_team_members[^]*cell 1 .*14 calls[^]*ENG001/)
  expect(stdout).toMatch(/^These engineers exceeded[^]*ENG001[^]*ENG003[^]*ENG007/)
  expect(stderr).not.toContain('Warning')
})
