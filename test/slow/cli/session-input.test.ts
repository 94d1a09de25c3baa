import { afterAll, beforeAll, expect, it } from 'vitest'
import { TestProject } from '../../support/cli/ptc.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { sharedServer } from '../../support/temporal/shared-server.js'
import { tool } from '../../support/tools.js'

let env: TestEnvironment
let project: TestProject
let end: (() => Promise<void>) | undefined

beforeAll(async () => {
  env = await TestEnvironment.start({
    tools: [tool('tenant', (_input, { context }) => (context as { readonly tenant?: string }).tenant ?? null)],
    backend: 'wasm',
    onCleanup: (cleanup) => (end = cleanup),
  })
  const { address, namespace } = sharedServer()
  project = await TestProject.create(
    {
      'ptc.config.mjs': `export default { tools: [], taskQueue: '${env.taskQueue}' }`,
      'orders.json': '[40, 2]',
      'load.py': 'print(sum(input_data), await tenant())\ninput_data.append(1)',
      'report.py': 'print(input_data)',
    },
    { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace },
  )
})

afterAll(async () => {
  await env.ptc.sessions.closeAll()
  await project[Symbol.asyncDispose]()
  await end?.()
})

it('a session begins with the input and the context of its first code, and refuses others', async () => {
  const exec = (...options: readonly string[]) => project.run('exec', '--session', 'orders', ...options)
  const context = ['--context', '{"tenant": "acme"}']
  expect(await exec('--input', 'orders.json', ...context, 'load.py')).toMatchObject({ code: 0, stdout: '42 acme\n' })
  // The variable of the session with the value that the code has set.
  expect(await exec('report.py')).toMatchObject({ code: 0, stdout: '[40, 2, 1]\n' })
  expect(await exec('--input', '[40, 2]', ...context, 'report.py')).toMatchObject({ code: 0, stdout: '[40, 2, 1]\n' })
  for (const [option, value, problem] of [
    ['--input', '[1]', 'session orders was started with other input data'],
    ['--context', '{"tenant": "globex"}', 'session orders was started with another context'],
  ] as const) {
    const { code, stdout, stderr } = await exec(option, value, 'report.py')
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(problem) as string,
    })
  }
})

it('code that is typed in a session gets the input', async () => {
  const { code, stdout } = await project
    .start('exec', '-i', '--input', 'orders.json')
    .input('print(input_data)\ninput_data.clear()\nprint(input_data)').result
  expect({ code, stdout }).toEqual({ code: 0, stdout: '[40, 2]\n[]\n' })
})

it.each([
  [['--input', 'report.py'], '--input: report.py has no JSON'],
  [['--context', '[]'], 'not an object'],
  [['--limits', 'cellSeconds=5'], "'-l, --limits <limits>' cannot be used with option '--session <name>'"],
  [['--tools', 'tenant'], "'-t, --tools <names>' cannot be used with option '--session <name>'"],
] as const)('%j is a wrong command line for a session', async (options, message) => {
  const { code, stdout, stderr } = await project.run('exec', '--session', 'wrong', ...options, 'report.py')
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(message) as string })
})
