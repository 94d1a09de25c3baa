import { execFileSync } from 'node:child_process'
import { Connection, type WorkflowExecutionInfo, type WorkflowHandle } from '@temporalio/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkTemporal } from '../../../src/cli/doctor/check-temporal.js'
import { searchAttributeNames } from '../../../src/common/run/search-attributes.js'
import { defineAgent } from '../../../src/index.js'
import { startDevServer } from '../../../src/dev-server/index.js'
import { findTemporalCli } from '../../../src/dev-server/temporal-cli.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { TestSession } from '../../support/environment/test-session.js'
import { pollOptions } from '../../support/poll-options.js'
import { answerResult, code, faulty, turn } from '../../support/script.js'
import { Deferred, tool } from '../../support/tools.js'

/** The current search attributes of this package on a workflow. */
async function attributesOf(handle: WorkflowHandle): Promise<Record<string, unknown>> {
  const { typedSearchAttributes } = await handle.describe()
  const own = typedSearchAttributes.getAll().filter(({ key }) => key.name.startsWith('Ptc'))
  return Object.fromEntries(own.map(({ key, value }) => [key.name, value]))
}

/** The current details in the form that the UI reads. */
async function currentDetails({ client }: TestEnvironment, { workflowId }: WorkflowHandle): Promise<string> {
  const query = () => client.workflow.getHandle(workflowId).query('__temporal_workflow_metadata')
  const metadata = (await query().catch(query)) as { readonly currentDetails?: string }
  return metadata.currentDetails ?? ''
}

/** Visibility lags. */
async function found({ client }: TestEnvironment, query: string): Promise<WorkflowExecutionInfo[]> {
  const infos: WorkflowExecutionInfo[] = []
  for await (const info of client.workflow.list({ query })) infos.push(info)
  return infos
}

describe('search attributes', () => {
  it('the search attributes of an agent have status, agent, tenant, model and cost over continue-as-new', async () => {
    const count = tool('count', ({ n }) => n)
    const env = await TestEnvironment.start({
      script: [turn(code('for n in range(40): await count(n=n)')), answerResult],
      tools: [count],
      model: { name: 'claude-opus-4-8' },
      limits: { historyEvents: 100 },
      agents: [defineAgent({ name: 'counter', instructions: 'You count.', tools: ['count'] })],
    })
    const context = { tenant: 'acme', user: 'ada' }
    const handle = await env.startAgent({ question: 'How **many**?', agent: 'counter', context }, { memo: { own: 1 } })
    await env.agentResult(handle)
    const attributes = await attributesOf(handle)
    expect(attributes).toEqual({
      PtcStatus: 'answered',
      PtcAgent: 'counter',
      PtcTenant: 'acme',
      PtcModel: 'claude-opus-4-8',
      PtcCostUsd: expect.any(Number),
    })
    expect(attributes['PtcCostUsd']).toBeGreaterThan(0)
    const chain = await env.executionHistories()
    expect(chain.length).toBeGreaterThan(1)
    const { memo } = await handle.describe()
    expect(memo).toMatchObject({ summary: 'How **many**?', own: 1 })
    // The server drops the summary of the UI at continue-as-new.
    expect(await currentDetails(env, handle)).toMatch(/^`How \*\*many\*\*\?`\n\n/)
    // One event when the run starts, and one when it ends. Calls and continue-as-new add none.
    const upserts = chain.flatMap(({ events }) =>
      events.filter((event) => event.upsertWorkflowSearchAttributesEventAttributes),
    )
    expect(upserts).toHaveLength(2)
    await env.expectCleanEnd(handle)
  })

  it('search attributes find a program by its code error', async () => {
    const env = await TestEnvironment.start()
    await env.runProgram('1 / 0')
    await env.runProgram('print(1)')
    const query = `TaskQueue = '${env.taskQueue}' AND PtcStatus = 'code_error'`
    await expect.poll(() => found(env, query)).toHaveLength(1)
  })

  it('search attributes show that a run waits, fails or was cancelled', async () => {
    const gate = new Deferred()
    const hold = tool('hold', () => gate.promise.then(() => 1))
    const script = [faulty([{ type: 'status', status: 401, attempt: 'every' }], answerResult)]
    const env = await TestEnvironment.start({ script, tools: [hold], timeouts: { park: '1s' } })
    const handle = await env.startProgram('await hold()')
    await expect.poll(() => attributesOf(handle)).toEqual({ PtcStatus: 'waiting' })
    gate.resolve()
    await handle.result()
    expect(await attributesOf(handle)).toEqual({ PtcStatus: 'ok' })

    const failing = await env.startAgent({ question: 'why?', model: 'no such model' })
    await expect(failing.result()).rejects.toThrow()
    expect(await attributesOf(failing)).toMatchObject({ PtcStatus: 'failed' })

    const cancelled = await env.startProgram('import asyncio; await asyncio.sleep(600)')
    await expect.poll(() => attributesOf(cancelled)).toEqual({ PtcStatus: 'running' })
    await cancelled.cancel()
    await expect(cancelled.result()).rejects.toThrow()
    expect(await attributesOf(cancelled)).toMatchObject({ PtcStatus: 'cancelled' })
  })

  it('search attributes name the session', async () => {
    const env = await TestEnvironment.start()
    const session = TestSession.create(env)
    await session.execute('x = 1')
    expect(await attributesOf(session.handle)).toEqual({ PtcStatus: 'running', PtcSession: session.name })
    await env.ptc.sessions.close(session.name)
    await session.handle.result()
    expect(await attributesOf(session.handle)).toMatchObject({ PtcStatus: 'closed' })
  })

  it('a run leaves out search attributes that the server does not have', async () => {
    const signal = AbortSignal.timeout(150_000)
    const server = await startDevServer({ onProgress: () => undefined, signal })
    onTestFinished(() => server.close())
    const connection = await Connection.connect({ address: server.address })
    onTestFinished(() => connection.close())
    const { namespace } = server
    const searchAttributes = searchAttributeNames.filter((name) => name !== 'PtcStatus')
    await connection.operatorService.removeSearchAttributes({ namespace, searchAttributes })
    const listed = () => connection.operatorService.listSearchAttributes({ namespace })
    await expect.poll(async () => Object.keys((await listed()).customAttributes ?? {})).not.toContain('PtcModel')

    const env = await TestEnvironment.start({ address: server.address, script: [turn({ type: 'text', text: 'hi' })] })
    const handle = await env.startAgent()
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'hi' })
    expect(await attributesOf(handle)).toEqual({ PtcStatus: 'answered' })

    const environment = { ...process.env, TEMPORAL_ADDRESS: server.address }
    const check = async () => (await checkTemporal('/no/state', environment)).at(-1)
    const { status, message, remedy = '' } = (await check()) ?? {}
    expect({ status, message }).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(/^PtcAgent, .*missing/),
    })
    const cli = await findTemporalCli({ environment, onProgress: () => undefined, signal })
    execFileSync(cli, remedy.split(' ').slice(1))
    await expect.poll(check, pollOptions).toMatchObject({ status: 'ok' })
  })
})
