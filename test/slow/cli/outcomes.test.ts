import { expect } from 'vitest'
import { temporalTest, terminateAfterTest, uniqueName } from '../../support/temporal/shared-server.js'
import { TestProject } from '../../support/cli/ptc.js'

const taskQueue = uniqueName('outcomes')
const report = 'print(input_data)'
const configuration = `export default { tools: [], sandbox: { backend: 'wasm' }, taskQueue: '${taskQueue}' }`

const test = temporalTest.extend('project', { scope: 'file' }, async ({ server }, { onCleanup }) => {
  const project = await TestProject.create(
    { 'ptc.config.ts': configuration, 'report.py': report, 'data.json': '[1, 2]' },
    { TEMPORAL_ADDRESS: server.address },
  )
  onCleanup(() => project[Symbol.asyncDispose]())
  await project.start('worker', '--roles', 'workflow,sandbox').waitForOutput(/worker ready/)
  return project
})

interface Listed {
  readonly workflowId: string
}

/** Polls until a run is listed: visibility lags behind the runs themselves. */
async function list(project: TestProject, id: string, ...options: readonly string[]): Promise<readonly Listed[]> {
  const ask = async () => JSON.parse((await project.run('list', '--json', ...options)).stdout) as readonly Listed[]
  await expect.poll(async () => (await ask()).map(({ workflowId }) => workflowId), { interval: 500 }).toContain(id)
  return ask()
}

test('a run that ended with a code error is listed as failed, with its outcome', async ({ client, project }) => {
  const [good, bad] = [uniqueName('good'), uniqueName('bad')]
  for (const [workflowId, source] of [
    [bad, '1 / 0'],
    [good, 'print(1)'],
  ] as const) {
    await client.workflow.execute('program', { taskQueue, workflowId, args: [{ source }] })
  }

  const startedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
  const failed = await list(project, bad, '--status', 'failed')
  expect(failed).toMatchObject([{ workflowId: bad, status: 'failed', outcome: 'code_error', startedAt }])
  const completed = await list(project, good, '--status', 'completed')
  expect(completed).toMatchObject([{ workflowId: good, status: 'completed', startedAt, endedAt: startedAt }])
  expect((await project.run('list')).stdout).toMatch(new RegExp(`^${bad} +code error +`, 'm'))

  const shown: unknown = JSON.parse((await project.run('show', bad, '--json')).stdout)
  expect(shown).toMatchObject({
    status: 'failed',
    startedAt,
    endedAt: startedAt,
    turns: [{ cells: [{ status: 'code_error', startedAt, endedAt: startedAt }] }],
  })
})

test('a run that another client started is listed with its description', async ({ client, project }) => {
  const workflowId = uniqueName('child')
  const source = '# sums up\nprint(2)'
  await client.workflow.execute('program', { taskQueue, workflowId, args: [{ source }] })
  const listed = await list(project, workflowId)
  expect(listed).toContainEqual(expect.objectContaining({ workflowId, summary: '# sums up print(2)' }))
})

test('ptc cancel reports that no worker can end the run', async ({
  client,
  project,
  taskQueue: lonely,
  workflowId,
}) => {
  const handle = await client.workflow.start('program', { taskQueue: lonely, workflowId, args: [{ source: '1' }] })
  terminateAfterTest(client, handle.workflowId)
  const { code, stderr } = await project.run('cancel', workflowId)
  expect(stderr).toContain(`no worker takes tasks from ${lonely}: `)
  expect(stderr).toContain('the run stops when a worker takes its cancellation\n')
  expect(code).toBe(0)
})

test('a configuration without tools needs no worker for tools', async ({ project }) => {
  const { code, stdout, stderr } = await project.start('exec', '-').input('print(6 * 7)').result
  expect(stderr).not.toContain('no worker')
  expect({ code, stdout }).toEqual({ code: 0, stdout: '42\n' })
})

test('ptc exec prints each stream of a program to its own, and reports both as JSON', async ({
  project,
  workflowId,
}) => {
  const source = 'import sys\nprint(1)\nprint("é", file=sys.stderr)\nprint(2)\nsys.exit(3)'
  const printed = await project.start('exec', '--id', workflowId, '-').input(source).result
  expect(printed).toMatchObject({ stdout: '1\n2\n', stderr: expect.stringContaining('é\nSystemExit: 3\n'), code: 1 })
  const { stdout } = await project.start('exec', '--json', '-').input(source).result
  expect(JSON.parse(stdout)).toMatchObject({
    answer: '1\né\n2\n',
    stdout: '1\n2\n',
    stderr: 'é\n',
    exitCode: 3,
    cellUsage: { runMs: expect.any(Number) as number },
  })
  const shown = await project.run('show', '--full', workflowId)
  expect(shown.stdout).toMatch(/cell 1 code error .* exit code 3 · ran \d/)
})

test('ptc watch of a program without tools does not warn about a missing worker for tools', async ({
  client,
  project,
  workflowId,
}) => {
  const source = 'import asyncio\nawait asyncio.sleep(3600)'
  await client.workflow.start('program', { taskQueue, workflowId, args: [{ source }] })
  terminateAfterTest(client, workflowId)
  // A command that loads the configuration caches its task queue for commands that only read.
  await project.start('exec', '-').input('print(1)').result
  const watching = project.start('watch', workflowId)
  // The command prints this after the check for workers.
  await watching.waitForOutput(new RegExp(`^run ${workflowId}$`, 'm'))
  watching.signal('SIGINT')
  const { code, stderr } = await watching.result
  expect(stderr).not.toContain('no worker')
  expect(code).toBe(130)
})

test('ptc exec gives a program its input, and refuses invalid input before it starts a run', async ({ project }) => {
  expect(await project.run('exec', '--input', 'data.json', '--limits', 'cellSeconds=30', 'report.py')).toMatchObject({
    stdout: '[1, 2]\n',
    code: 0,
  })
  for (const [options, message] of [
    [['--input', 'report.py'], '--input: report.py has no JSON'],
    [['--context', '[]'], 'not an object'],
    [['--limits', 'turn=3'], 'Did you mean "turns"?'],
  ] as const) {
    const { stderr, code } = await project.run('exec', ...options, 'report.py')
    expect({ stderr, code }).toEqual({ stderr: expect.stringContaining(message) as string, code: 2 })
  }
})
