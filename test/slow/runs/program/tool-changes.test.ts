import { expect, it } from 'vitest'
import { z } from 'zod'
import { renderTree } from '../../../../src/cli/rendering/tree/render-tree.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { Deferred, tool } from '../../../support/tools.js'

/** A tool that records the attempt number of each of its runs. */
function countingTool(name: string, effect: 'read' | 'once', input = z.object({ q: z.string() })) {
  const attempts: number[] = []
  const counting = tool(
    name,
    ({ q }, { attempt }) => {
      attempts.push(attempt)
      return q ?? null
    },
    { effect, input },
  )
  return { counting, attempts }
}

/** A tool that returns only after the deployment. */
function gateTool() {
  const called = new Deferred()
  const opened = new Deferred()
  const waiting = tool('gate', async (_input, { signal }) => {
    called.resolve()
    await Promise.race([opened.promise, new Promise((_resolve, reject) => signal.addEventListener('abort', reject))])
    return null
  })
  return { called, opened, waiting }
}

it.each(['read', 'once'] as const)(
  "a run keeps its tools: a rebuilt sandbox has their stubs, and a '%s' call waits for its worker",
  async (effect) => {
    const { called, opened, waiting } = gateTool()
    const { counting: lookup, attempts } = countingTool('lookup', effect)
    const { counting: renamed } = countingTool('find', effect)
    const env = await TestEnvironment.start({ tools: [waiting, lookup] })
    const handle = await env.startProgram(
      'import builtins\nawait gate()\nprint(await lookup(q="a"), hasattr(builtins, "find"))',
    )
    await called.promise
    await env.workers.stop()
    await env.killContainers(handle)
    await env.workers.start({ tools: [waiting, renamed] })
    opened.resolve()

    // The new worker does not have the tool: it reports that, and hands the call back.
    const shown = async () => renderTree(await env.ptc.handle(handle.workflowId).tree(), { width: 200, color: false })
    await expect.poll(shown).toContain('no worker that took the call so far has a tool named lookup')
    expect(attempts).toEqual([])

    await env.workers.start({ tools: [waiting, lookup], roles: ['tools'] })
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'a False\n' } })
    expect(attempts).toEqual([1])
    await env.expectCleanEnd(handle)
  },
)

it('a call whose tool was changed and no longer accepts its arguments reports that', async () => {
  const { called, opened, waiting } = gateTool()
  const { counting: lookup } = countingTool('lookup', 'read')
  const { counting: changed, attempts } = countingTool('lookup', 'read', z.object({ id: z.int() }) as never)
  const env = await TestEnvironment.start({ tools: [waiting, lookup] })
  const source = 'await gate()\ntry:\n    await lookup(q="a")\nexcept ToolError as e:\n    print(e.status, e)'
  const handle = await env.startProgram(source)
  await called.promise
  await env.workers.stop()
  await env.workers.start({ tools: [waiting, changed] })
  opened.resolve()
  const output = expect.stringMatching(/^invalid_arguments lookup was changed after this run began\. /)
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output } })
  expect(attempts).toEqual([])
  await env.expectCleanEnd(handle)
})

it('a tool that was added later is not available in a run that started before', async () => {
  const { called, opened, waiting } = gateTool()
  const { counting: added, attempts } = countingTool('lookup', 'read')
  const env = await TestEnvironment.start({ tools: [waiting] })
  const handle = await env.startProgram('if await gate() is None:\n    await lookup(q="a")')
  await called.promise
  await env.workers.stop()
  await env.killContainers(handle)
  await env.workers.start({ tools: [waiting, added] })
  opened.resolve()
  const error = expect.stringContaining("NameError: name 'lookup' is not defined")
  expect(await handle.result()).toMatchObject({ outcome: { status: 'code_error', error } })
  expect(attempts).toEqual([])
})
