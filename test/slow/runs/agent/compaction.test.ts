import { expect, it } from 'vitest'
import { fileStream } from '../../../../src/index.js'
import { renderTree } from '../../../../src/cli/rendering/tree/render-tree.js'
import type { Script, ScriptedTurn } from '../../../../src/testing/index.js'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { requestMessages, TestEnvironment } from '../../../support/environment/test-environment.js'
import { call, text, turn } from '../../../support/script.js'
import { temporaryFolder } from '../../../support/folders.js'
import { readEvents } from '../../../support/stream/shown-text.js'
import { tool } from '../../../support/tools.js'

/** A tool that counts its calls, with results that fill a window of 12,000 tokens after about ten calls. */
function countingTool() {
  let steps = 0
  return tool('step', () => `step ${(steps += 1)} ${'x'.repeat(3_000)}`)
}

const isSummary = { firstUserText: '<transcript>' }
const notes = turn(text('Some steps are done.'))

/** Calls the tool this many times, then answers. The last result decides, because compaction removes replies. */
const stepsTo = (last: number): { readonly turns: readonly ScriptedTurn[] } => ({
  turns: [
    { ...turn(text(`done after ${last}`)), match: { lastToolResult: { pattern: `^step ${last} ` } } },
    { ...turn(call('step')), match: { lastToolResult: { pattern: '^step ' } } },
    turn(call('step')),
  ],
})

const script = (last: number, summary = notes): Script => ({
  conversations: [{ match: isSummary, turns: [summary] }, stepsTo(last)],
})

const small = { model: { contextWindow: 12_000, maxTokens: 1_000 }, contextTokens: 12_000 }

/** Requests that count tokens, requests for a summary, and all others. */
function requestsOf({ api }: Pick<TestEnvironment, 'api'>) {
  const isTranscript = (body: unknown) => JSON.stringify(requestMessages(body)[0] ?? '').includes('<transcript>')
  const isCount = ({ path }: { readonly path: string }) => path.endsWith('/count_tokens')
  const counts = api.requests.filter(isCount)
  const bodies = api.requests.filter((each) => !isCount(each)).map(({ body }) => body)
  return { counts, summaries: bodies.filter(isTranscript), turns: bodies.filter((body) => !isTranscript(body)) }
}

it('an agent answers after 30 turns in a small window, over continue-as-new', async () => {
  const env = await TestEnvironment.start({
    tools: [countingTool()],
    script: script(30),
    limits: { turns: 40, historyEvents: 100 },
    ...small,
  })
  const handle = await env.startAgent({ question: 'Take 30 steps.' })
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'done after 30', turns: 31 })
  const { counts, summaries, turns } = requestsOf(env)
  expect(turns).toHaveLength(31)
  expect(summaries.length).toBeGreaterThan(0)
  const last = turns.at(-1) as { readonly system: readonly { readonly text: string }[] }
  expect(last.system[0]?.text).toContain('write in your replies what must last')
  const [first] = requestMessages(last)
  expect(first?.content).toMatchObject([
    { text: 'Take 30 steps.' },
    { text: expect.stringContaining('Some steps are done.') as string },
  ])
  const executions = await env.executionHistories(handle)
  expect(executions.length).toBeGreaterThan(1)
  const compactions = (await env.chainActivities(handle)).filter(({ type }) => type === 'model.compact')
  // The counter of the provider decides on each compaction.
  expect(counts.length).toBeGreaterThanOrEqual(compactions.length)
  expect(counts.map(({ outcome }) => outcome)).toEqual(counts.map(() => 'answered'))
  // Some of them only shorten results.
  expect(compactions.length).toBeGreaterThan(summaries.length)
  await env.expectCleanEnd(handle)
})

it('the live stream and the run tree show the figures of each compaction', async () => {
  const env = await TestEnvironment.start({
    tools: [countingTool()],
    script: script(20),
    limits: { turns: 30, historyEvents: 100 },
    stream: fileStream({ folder: await temporaryFolder() }),
    ...small,
  })
  const { workflowId } = await env.startAgent({ question: 'Take 20 steps.' })
  const handle = env.ptc.handle(workflowId)
  const events = await readEvents(handle.stream())
  const { compactions } = await handle.tree()
  expect(compactions.length).toBeGreaterThan(1)
  const ends = events.flatMap((event) => (event.type === 'compaction.completed' ? [event] : []))
  const figures = compactions.map((each) => {
    if (each.status !== 'ok') throw new Error(`a compaction is ${each.status}`)
    const { turn, tokensBefore, tokensAfter, shortened, summarized } = each
    expect(tokensAfter).toBeLessThan(tokensBefore)
    return { turn, tokensBefore, tokensAfter, shortened, summarized }
  })
  expect(ends).toMatchObject(figures)
  expect(figures.some(({ summarized }) => summarized > 0)).toBe(true)
  expect(figures.some(({ shortened }) => shortened > 0)).toBe(true)
  const types = events.map(({ type }) => type)
  const begin = types.indexOf('compaction.started')
  expect(types.slice(begin - 1, begin + 3)).toEqual([
    'call.completed',
    'compaction.started',
    'compaction.completed',
    'turn.started',
  ])
  const shown = renderTree(await handle.tree(), { width: 120, color: false })
  const [first] = figures
  expect(shown).toMatch(new RegExp(`compaction .* tokens: .*\\n.*turn ${first?.turn}\\b`))
})

it('a run counts the summary of a compaction in its usage, and in its budget before the next turn', async () => {
  const expensive = { ...notes, reply: { ...notes.reply, usage: { output_tokens: 1_000_000 } } }
  const env = await TestEnvironment.start({
    tools: [countingTool()],
    script: script(100, expensive),
    limits: { turns: 100 },
    budget: { tokens: 1_000_000, whenSpent: 'end' },
    ...small,
  })
  const { status, turns, usage } = await env.runAgent()
  expect({ status, outputTokens: usage.outputTokens }).toMatchObject({
    status: 'budget_spent',
    outputTokens: expect.any(Number) as number,
  })
  expect(usage.outputTokens).toBeGreaterThan(1_000_000)
  expect(requestsOf(env).turns).toHaveLength(turns)
})

it('a run continues without a summary when the model writes none', async () => {
  const failing = { ...notes, faults: [{ type: 'status', attempt: 'every', status: 401 } as const] }
  const env = await TestEnvironment.start({
    tools: [countingTool()],
    script: script(10, failing),
    limits: { turns: 40 },
    compaction: { threshold: 0.5 },
    ...small,
  })
  expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'done after 10', turns: 11 })
  expect(requestsOf(env).summaries.length).toBeGreaterThan(0)
})

it('compacts once when the provider refuses messages for a model with an unknown window', async () => {
  const options = { tools: [countingTool()], limits: { turns: 40 }, contextTokens: 12_000 }
  const env = await TestEnvironment.start({ ...options, script: script(14) })
  const result = await env.runAgent()
  expect(result).toMatchObject({ status: 'answered', answer: 'done after 14' })
  // The refused turn counts.
  expect(result.turns).toBeGreaterThan(15)
  const off = await TestEnvironment.start({
    ...options,
    tools: [countingTool()],
    contextTokens: 5_000,
    script: script(14),
    compaction: false,
  })
  expect(await off.runAgent()).toMatchObject({ status: 'context_full' })
  expect(requestsOf(off).summaries).toHaveLength(0)
})

it('shows the used share of the window, exports compacted messages, and takes a message back', async () => {
  const refused = { type: 'status', attempt: 'every', status: 401 } as const
  const talk = await TestConversation.start({
    tools: [countingTool()],
    script: {
      conversations: [
        { match: isSummary, turns: [notes] },
        {
          turns: [
            { ...turn(text('late')), faults: [refused], match: { lastUserText: { includes: 'And now?' } } },
            ...stepsTo(7).turns,
          ],
        },
      ],
    },
    ...small,
  })
  const { conversation } = talk
  expect(await conversation.ask('Take 7 steps.')).toMatchObject({ status: 'answered' })
  const before = await conversation.status()
  expect(before).toMatchObject({ contextWindow: 12_000, contextTokens: expect.any(Number) as number })
  // The message itself makes the compaction due.
  const answer = await conversation.ask(`And now? ${'y'.repeat(11_000)}`)
  expect(answer).toMatchObject({ status: 'failed', error: { code: 'MODEL_AUTH' }, isTakenBack: true })
  const after = await conversation.status()
  expect(after.contextTokens).toBeLessThan(before.contextTokens ?? 0)
  const history = JSON.stringify(await conversation.history())
  expect(history).toContain('bytes of this old result were removed')
  expect(history).toContain('Take 7 steps.')
  expect(history).not.toContain('And now?')
  await talk.close()
})

it('asks the provider to clear old results, if configured, and records the cleared ones', async () => {
  const applied = { type: 'clear_tool_uses_20250919', cleared_tool_uses: 2, cleared_input_tokens: 1_700 }
  const { reply } = turn(text('done'))
  const env = await TestEnvironment.start({
    tools: [countingTool()],
    compaction: { provider: true },
    script: [turn(call('step')), { reply: { ...reply, context_management: { applied_edits: [applied] } } }],
    ...small,
  })
  const handle = await env.startAgent()
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', turns: 2 })
  // 7/8 of 80 % of the window, so that a compaction of durable-ptc comes later.
  const edits = [{ type: 'clear_tool_uses_20250919', trigger: { type: 'input_tokens', value: 8_400 } }]
  expect(env.api.requests.map(({ body }) => body)).toMatchObject([
    { context_management: { edits } },
    { context_management: { edits } },
  ])
  const tree = await env.ptc.handle(handle.workflowId).tree()
  expect(tree.turns.map(({ model }) => (model?.status === 'ok' ? model.contextEdits : model))).toEqual([
    undefined,
    [applied],
  ])
  await env.expectCleanEnd(handle)
})
