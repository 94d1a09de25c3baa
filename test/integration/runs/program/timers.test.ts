import { expect, it } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import { DeferredToolCalls } from '../../../support/deferred-tool.js'
import { startedTimers } from '../../../support/environment/histories.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { limitedTool } from '../../../support/limited-tool.js'
import { call, code, text, turn } from '../../../support/script.js'
import { Deferred, tool } from '../../../support/tools.js'

it("every timer of the engine's workflows has a summary in the history", async () => {
  const calls = new DeferredToolCalls()
  const limited = limitedTool('limited', 1)
  const go = new Deferred<string>()
  const note = tool('note', () => go.promise)
  const env = await TestEnvironment.start({
    tools: [calls.tool('approve_soon', { expires: '1s' }), limited.tool, note],
    script: [turn(code('x = 1')), turn(call('note')), turn(text('noted'))],
  })
  const summaries = async (handle: WorkflowHandle) =>
    new Set(startedTimers(await env.history(handle)).map(({ summary }) => summary))

  const limiter = env.limiter('limited')
  const holder = await env.startProgram('await limited(id=1)')
  await limited.started(1)
  const waiting = await env.startProgram(`
try: await approve_soon(id=1)
except ToolError: pass
import asyncio
await asyncio.sleep(3)
await limited(id=2)
`)
  await expect.poll(() => summaries(waiting)).toContain('ask for slots again')
  await expect.poll(() => summaries(limiter)).toEqual(new Set(['check the calls that hold a slot']))
  limited.open()
  for (const handle of [holder, waiting]) await handle.result()
  expect(await summaries(waiting)).toEqual(
    new Set([
      'park the session while its code waits',
      'expiry of a deferred call',
      'timer of the code in cell 1',
      'ask for slots again',
    ]),
  )
  await expect.poll(() => summaries(limiter)).toContain('end the idle workflow')

  const bounded = await env.startProgram('await note()', { limits: { cellTotalSeconds: 30 } })
  const agent = await env.startAgent()
  await expect.poll(() => summaries(bounded)).toEqual(new Set(['time limit of the cell']))
  await expect.poll(() => summaries(agent)).toEqual(new Set(['park the idle session']))
  go.resolve('noted')
  for (const handle of [bounded, agent]) await handle.result()

  const session = env.sessionHandle(env.taskQueue)
  await env.ptc.sessions.execute(env.taskQueue, 'x = 1')
  await expect.poll(() => summaries(session)).toEqual(new Set(['end the idle session']))
  await env.ptc.sessions.close(env.taskQueue)
  for (const handle of [holder, waiting, bounded, agent, session]) await env.expectCleanEnd(handle)
})
