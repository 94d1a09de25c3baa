import { expect, it } from 'vitest'
import { z } from 'zod'
import { renderTree } from '../../src/client/render/index.js'
import { Stack } from '../support/stack.js'
import { patient } from '../support/patient.js'
import { Happening, tool } from '../support/tools.js'

/** Tells how often it ran, and as which attempt it was told. */
function counted(name: string, effect: 'read' | 'once', input = z.object({ q: z.string() })) {
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

/** A program that goes on only when the deployment is over. */
function gate() {
  const asked = new Happening()
  const opened = new Happening()
  const waiting = tool('gate', async (_input, { signal }) => {
    asked.happen()
    await Promise.race([opened.happened, new Promise((_resolve, reject) => signal.addEventListener('abort', reject))])
    return null
  })
  return { asked, opened, waiting }
}

it.each(['read', 'once'] as const)(
  "a run keeps the tools it began with: a rebuilt sandbox has their stubs, and a '%s' call waits for a worker that has its tool",
  async (effect) => {
    const { asked, opened, waiting } = gate()
    const { counting: lookup, attempts } = counted('lookup', effect)
    const { counting: renamed } = counted('find', effect)
    const stack = await Stack.start({ tools: [waiting, lookup] })
    const handle = await stack.startProgram(
      'import builtins\nawait gate()\nprint(await lookup(q="a"), hasattr(builtins, "find"))',
    )
    await asked.happened
    await stack.stopWorker()
    await stack.killContainer(handle)
    await stack.startWorker([waiting, renamed])
    opened.happen()

    // The new worker has no such tool: it says so, and hands the call back.
    const shown = async () => renderTree(await stack.ptc.handle(handle.workflowId).tree(), { width: 200, color: false })
    await expect.poll(shown, patient).toContain('no worker that took the call so far has a tool named lookup')
    expect(attempts).toEqual([])

    await stack.startWorker([waiting, lookup], ['tools'])
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'a False\n' } })
    expect(attempts).toEqual([1])
    await stack.leftClean(handle)
  },
)

it('a call of a tool that was changed meanwhile, and no longer takes its arguments, says so', async () => {
  const { asked, opened, waiting } = gate()
  const { counting: lookup } = counted('lookup', 'read')
  const { counting: changed, attempts } = counted('lookup', 'read', z.object({ id: z.int() }) as never)
  const stack = await Stack.start({ tools: [waiting, lookup] })
  const source = 'await gate()\ntry:\n    await lookup(q="a")\nexcept ToolError as e:\n    print(e.status, e)'
  const handle = await stack.startProgram(source)
  await asked.happened
  await stack.stopWorker()
  await stack.startWorker([waiting, changed])
  opened.happen()
  const output = expect.stringMatching(/^invalid_arguments lookup was changed after this run began\. /)
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output } })
  expect(attempts).toEqual([])
  await stack.leftClean(handle)
})

it('a tool that was added meanwhile is not there for a run that began before', async () => {
  const { asked, opened, waiting } = gate()
  const { counting: added, attempts } = counted('lookup', 'read')
  const stack = await Stack.start({ tools: [waiting] })
  const handle = await stack.startProgram('await gate()\nawait lookup(q="a")')
  await asked.happened
  await stack.stopWorker()
  await stack.killContainer(handle)
  await stack.startWorker([waiting, added])
  opened.happen()
  const error = expect.stringContaining("NameError: name 'lookup' is not defined")
  expect(await handle.result()).toMatchObject({ outcome: { status: 'code_error', error } })
  expect(attempts).toEqual([])
})
