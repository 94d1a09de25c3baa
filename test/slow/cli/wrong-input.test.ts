import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedServer } from '../../support/temporal/shared-server.js'
import { TestProject } from '../../support/cli/ptc.js'
import { unusedAddress } from '../../support/unused-address.js'

const tool = (name: string): string =>
  `defineTool({ name: '${name}', description: 'A tool.', input: z.object({}), output: z.number(), effect: 'read', async run() { return 1 } })`

const configuration = (tools: readonly string[]): string => `
import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'
export default defineConfig({ tools: [${tools.join(', ')}] })
`

const files = {
  'ptc.config.ts': configuration([tool('fine')]),
  'broken.ts': 'export default {',
  'no-default.ts': 'export const config = {}',
  'no-object.ts': 'export default 7',
  'unknown-key.ts': 'export default { tools: [], tool: [] }',
  'no-tool.ts': 'export default { tools: [{ name: "x" }] }',
  'throws.ts': 'throw new Error("the config says no")',
  'duplicate.ts': configuration([tool('twice'), tool('twice')]),
  'bad-name.ts': configuration([tool('get expenses')]),
}

let project: TestProject

beforeAll(async () => {
  project = await TestProject.create(files, { TEMPORAL_ADDRESS: sharedServer().address })
})

afterAll(() => project[Symbol.asyncDispose]())

describe('an invalid command line', () => {
  it.each([
    [[], /Usage: ptc/],
    [['rnu'], /unknown command 'rnu'\n\(Did you mean run\?\)/],
    [['help', 'rnu'], /^ptc: unknown command 'rnu'\n\(Did you mean run\?\)/],
    [['help', 'nope'], /^ptc: unknown command 'nope'\n\(see --help\)/],
    [['show', 'x', '--run', '123'], /It must be a run id: a UUID/],
    [['run'], /missing required argument 'question'/],
    [['run', 'a', 'b'], /too many arguments/],
    [['run', 'why?', '--modell', 'x'], /unknown option '--modell'\n\(Did you mean --model\?\)/],
    [['run', 'why?', '--sandbox', 'vm'], /Allowed choices are auto, docker, wasm/],
    [['run', ' '], /the question is empty/],
    [['run', 'why?', '--id', 'two words', '--detach'], /"two words" can't be the id of a run/],
    [['run', 'why?', '--attach', 'nowhere.png'], /attachment 1: there is no file nowhere\.png/],
    [['run', 'why?', '--attach', 'ptc.config.ts'], /attachment 1: it is none of image\/png/],
    [['run', 'why?', '--thinking', 'on'], /It must be adaptive, off, or a number of tokens/],
    [['run', 'why?', '--thinking', 'adaptive', '--temperature', '0'], /temperature and thinking exclude each other/],
    [['list', '--limit', '0'], /whole number from 1/],
    [['list', '--status', 'done'], /Allowed choices are running/],
    [['worker', '--roles', 'cook'], /There is no role "cook"; there are workflow, model, tools, sandbox/],
    [['dev', '--port', '70000'], /whole number from 1 to 65535/],
    [['exec', 'nowhere.py'], /there is no file nowhere\.py/],
    [['exec', '.'], /^ptc: \. is a folder/],
  ])('ptc %j ends with an error and exit code 2', async (ptcArguments, message) => {
    const { code, stdout, stderr } = await project.run(...ptcArguments)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/^\s+at /m)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})

describe('an invalid configuration', () => {
  it.each([
    ['missing.ts', /there is no configuration file missing\.ts/],
    ['broken.ts', /broken\.ts can't be loaded/],
    ['no-default.ts', /no-default\.ts has no default export\nWrite `export default defineConfig/],
    ['no-object.ts', /no-object\.ts is not a valid configuration/],
    ['unknown-key.ts', /Unrecognized key: "tool"/],
    ['no-tool.ts', /tools\[0\] is not a tool\nMake it with defineTool/],
    ['throws.ts', /the config says no/],
    ['duplicate.ts', /two tools are named twice/],
    ['bad-name.ts', /tool name "get expenses" is not 1 to 64 letters/],
  ])('an invalid configuration fails before anything starts, with exit code 2: --config %s', async (file, message) => {
    const { code, stdout, stderr } = await project.run('run', 'why?', '--config', file)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/^\s+at /m)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  it('a failed command with --json prints one object', async () => {
    const { code, stdout } = await project.run('run', 'why?', '--json', '--config', 'missing.ts')
    expect(JSON.parse(stdout)).toMatchObject({ status: 'failed', answer: '', error: { code: 'CONFIG_NOT_FOUND' } })
    expect(code).toBe(2)
  })
})

describe('a missing run', () => {
  it.each([[['watch', 'nobody']], [['show', 'nobody']], [['cancel', 'nobody']]])(
    'ptc %j of a missing run fails with exit code 1',
    async (ptcArguments) => {
      const { code, stderr } = await project.run(...ptcArguments)
      expect(stderr).toContain('ptc: there is no run nobody\n`ptc list` shows the runs there are.')
      expect(code).toBe(1)
    },
  )

  it('reports a Temporal server that does not respond, with exit code 3, within seconds', async () => {
    await using unreachable = await TestProject.create(files, { TEMPORAL_ADDRESS: unusedAddress })
    const commands = [['run', 'why?'], ['exec', '-'], ['list'], ['worker'], ['dev']]
    await Promise.all(
      commands.map(async (command) => {
        const { code, stderr } = await unreachable.start(...command).input('print(1)').result
        expect(stderr).toMatch(/^ptc: Temporal at 127\.0\.0\.1:1\b.*\n.*TEMPORAL_ADDRESS/m)
        expect(code).toBe(3)
      }),
    )
  })

  it('a command without a server and a configuration says how to get one, with exit code 3', async () => {
    await using empty = await TestProject.create({})
    for (const command of [['run', 'why?'], ['list'], ['cancel', 'x']]) {
      const { code, stderr } = await empty.run(...command)
      expect(stderr).toContain('ptc: no Temporal server is running for this folder')
      expect(stderr).toContain('`ptc dev`')
      expect(code).toBe(3)
    }
  })

  it('a command fails with exit code 3 when no worker polls the task queue', async () => {
    const { code, stderr } = await project.run('run', 'why?', '--config', await lonelyQueue())
    expect(stderr).toMatch(/no worker is running on task queue lonely-.*\nStart one with `ptc worker`/)
    expect(code).toBe(3)
  })
})

async function lonelyQueue(): Promise<string> {
  await project.write('lonely.ts', `export default { tools: [], taskQueue: 'lonely-${process.pid}-${Date.now()}' }`)
  return 'lonely.ts'
}
