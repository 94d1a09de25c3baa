import { expect, it } from 'vitest'
import { TestProject } from '../../support/cli/ptc.js'
import { DeferredToolCalls } from '../../support/deferred-tool.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { sharedServer } from '../../support/temporal/shared-server.js'

it('ptc lists, completes and fails the deferred calls of a run', async () => {
  const calls = new DeferredToolCalls()
  const env = await TestEnvironment.start({ tools: [calls.tool('approve')] })
  const handle = await env.startProgram(`
import asyncio
results = await asyncio.gather(approve(id=1), approve(id=2), return_exceptions=True)
print(*results)
`)
  const tree = () => env.ptc.handle(handle.workflowId).tree()
  const waits = async () => (await tree()).turns.flatMap(({ cells }) => cells.flatMap((cell) => cell.calls))
  await expect.poll(async () => (await waits()).filter(({ deferred }) => deferred).length).toBe(2)
  expect(await tree()).toMatchObject({ phase: { type: 'waiting_for_calls', open: 2 } })
  const { address, namespace } = sharedServer()
  await using project = await TestProject.create({}, { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace })

  const { stdout: shown } = await project.run('show', handle.workflowId)
  expect(shown).toMatch(/approve\(id=1\)[^]*waits for its result since \S+ \S+ UTC, expires \S+ \S+ UTC/)
  const { stdout: json } = await project.run('approvals', handle.workflowId, '--json')
  const listed = JSON.parse(json) as { summary: string; token: string }[]
  const [first, second] = [await calls.token(1), await calls.token(2)]
  const byId = listed.toSorted((a, b) => a.summary.localeCompare(b.summary))
  expect(byId).toMatchObject([
    { tool: 'approve', summary: 'approve 1', token: first, since: expect.any(String), expiresAt: expect.any(String) },
    { tool: 'approve', summary: 'approve 2', token: second },
  ])
  const { stdout: table } = await project.run('approvals', handle.workflowId)
  expect(table).toMatch(/approve 1 waits for its result\n  ptc answer \S+ --call turn-0\.cell-1\.call-1 --result JSON/)
  expect(table).not.toContain(first)

  const wrong = await project.run('answer', first, '--result', '{"approved": "yes"}')
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('does not fit its output schema') })
  const noJson = await project.run('answer', first, '--result', 'yes')
  expect(noJson).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no file yes') })
  const completed = await project.run('answer', first, '--result', '{"approved": true}', '--by', 'ada')
  expect(completed).toMatchObject({ code: 0, stderr: 'the call is completed\n' })
  const failed = await project.run('answer', handle.workflowId, '--error', 'nobody is there')
  expect(failed).toMatchObject({ code: 0, stderr: 'the call has failed\n' })
  expect(await handle.result()).toMatchObject({ outcome: { output: "{'approved': True} nobody is there\n" } })

  const late = await project.run('answer', second, '--result', '{"approved": true}')
  expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('has ended') })
  const after = (await tree()).turns[0]?.cells[0]?.calls
  expect(after).toMatchObject([
    { status: 'ok', resultPreview: '{"approved":true}' },
    { status: 'tool_error', message: 'nobody is there' },
  ])
})
