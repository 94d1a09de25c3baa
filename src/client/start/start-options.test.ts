import { describe, expect, it } from 'vitest'
import { toOneLine } from '../../common/text/text.js'
import { checkStart, type StartOptions, startOptions } from './start-options.js'

/** Checks a start, and returns the options of its workflow. */
function optionsOf(kind: 'agent' | 'program', text: string, options: StartOptions) {
  const start = checkStart(kind, kind === 'agent' ? { question: text } : { source: text }, options)
  return startOptions(start, 'queue', text)
}

describe('startOptions', () => {
  it('startOptions generates different readable ids', () => {
    const ids = Array.from({ length: 50 }, () => optionsOf('agent', 'why?', {}).workflowId)
    expect(new Set(ids).size).toBe(50)
    for (const id of ids) expect(id).toMatch(/^agent-[2-9b-z]{10}$/)
  })

  it('the question of a run is in the Temporal UI as summary and details', () => {
    const options = optionsOf('agent', 'first line\nsecond', { workflowId: 'mine' })
    expect(options).toMatchObject({
      workflowId: 'mine',
      taskQueue: 'queue',
      staticSummary: 'first line second',
      staticDetails: '```text\nfirst line\nsecond\n```',
      memo: { summary: 'first line second' },
    })
  })

  it('the details of a program with fences are one code block', () => {
    const { staticDetails } = optionsOf('program', "print('```')", {})
    expect(staticDetails).toBe("````python\nprint('```')\n````")
  })

  it.each(['界'.repeat(20_000), '\n'.repeat(20_000), '`'.repeat(20_000)])(
    'startOptions limits the details to 20 KB',
    (text) => {
      for (const kind of ['agent', 'program'] as const) {
        const { staticDetails = '' } = optionsOf(kind, `x${text}`, {})
        expect(Buffer.byteLength(staticDetails)).toBeLessThan(20_000)
        expect(staticDetails).not.toContain('\uFFFD')
      }
    },
  )

  it.each([
    ['', 'the question is empty'],
    [' \n', 'the question is empty'],
    ['x'.repeat(16_000_001), 'the question has 16000001 bytes; a run takes up to 16000000'],
  ])('startOptions rejects the question %j', (question, message) => {
    expect(() => optionsOf('agent', question, {})).toThrow(
      expect.objectContaining({ code: 'RUN_INPUT_INVALID', message }),
    )
  })

  it("startOptions passes Temporal's options on, and keeps its own memo", () => {
    const temporal = {
      workflowExecutionTimeout: '2 hours',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      startDelay: 500,
      priority: { priorityKey: 2, fairnessKey: 'acme' },
    } as const
    expect(optionsOf('agent', 'why?', { ...temporal, memo: { ticket: 7 } })).toMatchObject({
      ...temporal,
      memo: { ticket: 7, summary: 'why?' },
    })
  })

  it.each([
    [{ taskQueue: 'other' }, 'the options: unknown key "taskQueue"'],
    [{ memo: { summary: 'mine' } }, 'the memo has the key summary, which durable-ptc sets itself'],
    [{ workflowRunTimeout: 'soon' }, 'workflowRunTimeout: "soon" is not a duration'],
    [{ startDelay: -1 }, 'startDelay: -1 is not a duration'],
  ])('startOptions rejects the options %j', (options, message) => {
    expect(() => optionsOf('agent', 'why?', options as never)).toThrow(
      expect.objectContaining({ code: 'RUN_INPUT_INVALID', message }),
    )
  })

  it.each(['', 'two words', 'x'.repeat(201), 'a\0b', 'a\ud83d'])('startOptions rejects the id %j', (workflowId) => {
    expect(() => optionsOf('agent', 'why?', { workflowId })).toThrow(
      expect.objectContaining({ code: 'RUN_INPUT_INVALID' }),
    )
  })
})

describe('toOneLine', () => {
  it('toOneLine returns one line of at most 200 characters', () => {
    const summary = toOneLine(`a\n\nb ${'x'.repeat(500)}`)
    expect(summary).toHaveLength(200)
    expect(summary).toMatch(/^a b x+…$/)
  })
})
