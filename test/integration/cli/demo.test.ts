import { describe, expect, it } from 'vitest'
import { TestProject } from '../../support/cli/ptc.js'

describe('ptc demo', () => {
  it('ptc demo without an API key says that its model is scripted; shows code, output and statistics', async () => {
    await using project = await TestProject.create({})
    const { code, stdout, stderr } = await project.run('demo', '--sandbox', 'wasm')
    expect(stderr).toContain('no ANTHROPIC_API_KEY is set, so a script plays the model')
    expect(stderr).toContain('sandbox: Pyodide')
    expect(stderr).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/namespaces\/default\/workflows\/agent-/m)
    expect(stderr).toMatch(/await get_team_members[^]*cell 1 .*14 calls[^]*ENG001/)
    expect(stdout).toMatch(/^These engineers exceeded[^]*ENG001[^]*ENG003[^]*ENG007/)
    for (const row of ['turns', 'tool calls', 'tokens that reached the model', 'direct calls', 'cost', 'time']) {
      expect(stdout).toMatch(new RegExp(`│ .*${row}.* │ .*\\d.* │`))
    }
    expect(stderr).not.toContain('Warning')
    expect(code).toBe(0)
  })
})
