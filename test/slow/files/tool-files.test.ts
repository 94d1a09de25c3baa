import { expect, it } from 'vitest'
import { z } from 'zod'
import { createPtcClient } from '../../../src/client/index.js'
import { type AuditEvent, defineAgent, defineTool, file, type Tool } from '../../../src/index.js'
import { fileStream } from '../../../src/stream/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { killContainersOf } from '../../support/environment/containers.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { TestSession } from '../../support/environment/test-session.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, call, code, text, turn } from '../../support/script.js'
import { Deferred, tool } from '../../support/tools.js'

/** Returns its argument as a file, and counts its executions. */
function tableTool(): { readonly table: Tool; readonly names: readonly string[] } {
  const names: string[] = []
  const table = defineTool({
    name: 'table',
    description: 'A table.',
    input: z.object({ name: z.string().default('a.csv') }),
    output: file({ mediaType: 'text/csv' }),
    effect: 'idempotent',
    allowedCallers: ['direct', 'code_execution'],
    run: ({ name }) => {
      names.push(name)
      return { name, data: `name\n${name}\n` }
    },
  })
  return { table, names }
}

const listFiles = 'import glob\nprint([open(path).read().split() for path in sorted(glob.glob("/tmp/in/tools/*/*"))])'

describeDocker('files that tools return', () => {
  it('a file is there for the next cell when its own cell was lost', async () => {
    const { table, names } = tableTool()
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [table],
      script: [turn(code('import os\npath = await table()\nos._exit(1)')), turn(code(listFiles)), answerResult],
    })
    const run = await env.ptc.startAgent({ question: 'Exit.' })
    expect(await run.result()).toMatchObject({ answer: "[['name', 'a.csv']]" })
    expect(JSON.stringify(env.api.requests[1]?.body)).toContain('[lost]')
    expect(names).toEqual(['a.csv'])
    await env.expectCleanEnd(env.client.workflow.getHandle(run.workflowId))
  })

  it('a run with many files continues as new in the middle of a cell, with a flat history', async () => {
    const { table, names } = tableTool()
    const limits = { historyEvents: 150 }
    const env = await TestEnvironment.start({ backend: 'docker', tools: [table], limits })
    const run = await env.ptc.startProgram({
      source: `
import asyncio
paths = [await table(name=f"{n}.csv") for n in range(20)]
paths += await asyncio.gather(*[table(name=f"{n}.csv") for n in range(20, 40)])
print([open(path).read().split()[1] for path in paths] == [f"{n}.csv" for n in range(40)], len(set(paths)))`,
    })
    expect(await run.result()).toMatchObject({ outcome: { status: 'ok', output: 'True 40\n' } })
    expect(names).toHaveLength(40)
    expect(await run.files.list()).toHaveLength(40)
    expect((await run.tree()).files).toHaveLength(40)
    const handle = env.client.workflow.getHandle(run.workflowId)
    expect((await env.executionHistories(handle)).length).toBeGreaterThan(1)
    await env.expectCleanEnd(handle)
  })

  it('a session keeps its files over an interrupt and the loss of its container', async () => {
    const { table, names } = tableTool()
    const [called, released] = [new Deferred(), new Deferred<number>()]
    const slow = tool('slow', async () => {
      called.resolve()
      return released.promise
    })
    const session = await TestSession.start({ backend: 'docker', tools: [table, slow] })
    const stop = new AbortController()
    const executing = session.execute('path = await table()\nx = open(path).read()\nawait slow()', {
      signal: stop.signal,
    })
    await called.promise
    stop.abort()
    expect(await executing).toMatchObject({ outcome: { status: 'stopped', sessionKept: true } })
    released.resolve(1)
    expect(await session.outputOf('print(open(path).read() == x)')).toBe('True\n')
    await session.env.killContainers(session.handle)
    expect(await session.outputOf('print(open(path).read() == x)')).toBe('True\n')
    expect(names).toEqual(['a.csv'])
    await session.close()
  })

  it.each([
    ['javascript', "console.log(require('fs').readFileSync(await table({ name: 'b.csv' }), 'utf8'))"],
    [
      'bash',
      'cat "$(tool table name=b.csv | jq -r .)"; for n in 1 2 3; do tool table name=$n.csv >/dev/null & done; wait',
    ],
    ['python,javascript', 'print(open(await table(name="b.csv")).read())'],
  ])('code in %s reads a file', async (language, source) => {
    const { table } = tableTool()
    const env = await TestEnvironment.start({ backend: 'docker', tools: [table] })
    const run = await env.ptc.startProgram({ source, language })
    const { outcome } = await run.result()
    expect(outcome).toMatchObject({ status: 'ok', output: expect.stringMatching(/^name\nb\.csv\n\n?$/) })
    await env.expectCleanEnd(env.client.workflow.getHandle(run.workflowId))
  })

  it('an agent in the sandbox of its parent gets files by code, and not by direct calls', async () => {
    const { table, names } = tableTool()
    const about = { description: 'Helps.', instructions: 'Help.', tools: ['table'] } as const
    const helper = defineAgent({ name: 'helper', ...about, sandbox: 'parent' })
    const agent = defineAgent({ name: 'main', instructions: 'Work.', tools: ['table'], agents: [helper] })
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [table],
      agents: [agent, helper],
      script: {
        conversations: [
          {
            match: { firstUserText: { equals: 'Go.' } },
            turns: [turn(call('helper', { task: 'Read a table.' })), turn(code(listFiles)), answerResult],
          },
          {
            match: { firstUserText: { equals: 'Read a table.' } },
            turns: [
              turn(call('table', { name: 'direct.csv' })),
              turn(code('print(open(await table(name="code.csv")).read().split())')),
              turn(text('done')),
            ],
          },
        ],
      },
    })
    const run = await env.ptc.startAgent({ agent: 'main', question: 'Go.' })
    expect(await run.result()).toMatchObject({ answer: "[['name', 'code.csv']]" })
    expect(JSON.stringify(env.api.requests[2]?.body)).toContain('[denied] table returns a file')
    expect(JSON.stringify(env.api.requests[3]?.body)).toContain("['name', 'code.csv']")
    expect(names).toEqual(['code.csv'])
    expect(await run.files.list()).toMatchObject([{ bytes: 14 }])
    await env.expectCleanEnd(env.client.workflow.getHandle(run.workflowId))
  })

  it('code in a further sandbox gets a file, which the run lists', async () => {
    const { table } = tableTool()
    const agent = defineAgent({ name: 'main', instructions: 'Work.', sessions: ['etl'] })
    const inSession = (source: string) => call('execute_code', { code: source, session: 'etl' })
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [table],
      agents: [agent],
      script: [
        turn(inSession('path = await table()\nprint(open(path).read().split())')),
        turn(code(listFiles)),
        turn(inSession('print(open(path).read() == "name\\na.csv\\n")')),
        turn(text('done')),
      ],
    })
    const run = await env.ptc.startAgent({ agent: 'main', question: 'Go.' })
    expect(await run.result()).toMatchObject({ status: 'answered' })
    const [, second, third] = env.api.requests.map(({ body }) => JSON.stringify(body))
    expect(second).toContain("['name', 'a.csv']")
    expect(third).toContain('"[]"')
    expect(await run.files.list()).toMatchObject([{ path: expect.stringMatching(/a\.csv$/), bytes: 11 }])
    await env.expectCleanEnd(env.client.workflow.getHandle(run.workflowId))
  })

  it('the live stream, the audit log and the tree tell of a file, without its content', async () => {
    const audited: AuditEvent[] = []
    const write = (event: AuditEvent) => {
      audited.push(event)
      return Promise.resolve()
    }
    const stream = fileStream({ folder: await temporaryFolder() })
    const { table } = tableTool()
    const env = await TestEnvironment.start({ backend: 'docker', tools: [table], stream, audit: { sink: { write } } })
    const { client, taskQueue } = env
    const ptc = createPtcClient({ client, taskQueue, stream })
    const run = await ptc.startProgram({ source: 'await table()' })
    const events = []
    for await (const event of run.stream()) events.push(event)
    const path = expect.stringMatching(/^\/tmp\/in\/tools\/[0-9a-f]{16}\/a\.csv$/)
    const kept = { type: 'file.kept', path, bytes: 11, mediaType: 'text/csv' }
    expect(events.filter(({ type }) => type.startsWith('file.'))).toMatchObject([kept])
    const [ofAudit, ...others] = audited.filter(({ type }) => type.startsWith('file.'))
    expect(ofAudit).toMatchObject({ ...kept, tool: 'table', call: expect.stringMatching(/^[0-9a-f]{32}$/) })
    expect(others).toEqual([])
    const { turns, files } = await run.tree()
    expect(files).toMatchObject([{ path, bytes: 11 }])
    expect(turns[0]?.cells[0]?.calls).toMatchObject([{ status: 'ok', file: { path, bytes: 11 } }])
    expect(JSON.stringify([events, audited])).not.toContain('name\\n')
    await env.expectCleanEnd(client.workflow.getHandle(run.workflowId))
  })

  it('a rule on data holds a file back from the list, and not from the code', async () => {
    const leaky = defineTool({
      name: 'leaky',
      description: 'Personal data.',
      input: z.object({}),
      output: file(),
      effect: 'read',
      labels: ['pii'],
      run: () => ({ name: 'a.csv', data: 'Ada' }),
    })
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [leaky],
      dataFlow: { rules: [{ labels: ['pii'], answer: true, action: 'deny' }] },
      script: [turn(code('print(open(await leaky()).read())')), turn(text('done'))],
    })
    const run = await env.ptc.startAgent({ question: 'Read.' })
    expect(await run.result()).toMatchObject({ status: 'withheld' })
    expect(JSON.stringify(env.api.requests[1]?.body)).toContain('Ada')
    expect(await run.files.list()).toEqual([])
    await env.expectCleanEnd(env.client.workflow.getHandle(run.workflowId))
  })

  it('the label of a file stays with the code when the cell that got it is lost', async () => {
    const sent: unknown[] = []
    const send = tool('send', ({ text: data }) => {
      sent.push(data)
      return null
    })
    const pii = defineTool({
      name: 'pii',
      description: 'Personal data.',
      input: z.object({}),
      output: file(),
      effect: 'read',
      labels: ['pii'],
      run: () => ({ name: 'a.csv', data: 'Ada' }),
    })
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [send, pii],
      dataFlow: { rules: [{ labels: ['pii'], tools: ['send'], action: 'deny' }] },
      script: [
        turn(code('import os\nawait pii()\nos._exit(1)')),
        turn(code('import glob\nawait send(text=open(glob.glob("/tmp/in/tools/*/*")[0]).read())')),
        answerResult,
      ],
    })
    const run = await env.ptc.startAgent({ question: 'Send.' })
    expect(await run.result()).toMatchObject({ answer: expect.stringContaining('denies data labelled pii') })
    expect(sent).toEqual([])
    await env.expectCleanEnd(env.client.workflow.getHandle(run.workflowId))
  })

  it('a file is in a container that was parked and lost', async () => {
    const { table, names } = tableTool()
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [table],
      timeouts: { park: '1s' },
      script: [
        turn(code('import asyncio\npath = await table()\nawait asyncio.sleep(4)\nprint(open(path).read())')),
        answerResult,
      ],
    })
    const run = await env.ptc.startAgent({ question: 'Wait.' })
    await expect.poll(async () => names.length, { timeout: 20_000 }).toBe(1)
    await killContainersOf(run.workflowId)
    expect(await run.result()).toMatchObject({ answer: 'name\na.csv' })
    expect(names).toEqual(['a.csv'])
    await env.expectCleanEnd(env.client.workflow.getHandle(run.workflowId))
  })
})

it('a run in a sandbox without files is refused at its start when a tool returns files', async () => {
  const { table } = tableTool()
  const other = tool('other', () => 1)
  const env = await TestEnvironment.start({ backend: 'wasm', tools: [table, other] })
  const program = { source: 'console.log(1)', language: 'javascript' }
  const refused = await env.ptc.startProgram(program)
  await expect(refused.result()).rejects.toMatchObject({
    code: 'SANDBOX_FILES_UNSUPPORTED',
    message: expect.stringContaining(
      "tool table returns files, and code in javascript can't have files in the sandbox wasm",
    ),
  })
  const without = await env.ptc.startProgram({ ...program, tools: ['other'] })
  expect(await without.result()).toMatchObject({ outcome: { output: '1\n' } })
})
