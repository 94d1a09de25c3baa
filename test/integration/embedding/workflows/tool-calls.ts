import { ApplicationFailure, continueAsNew } from '@temporalio/workflow'
import type { Tool } from '../../../../src/index.js'
import { callTool } from '../../../../src/workflows/blocks/index.js'
import type { z } from 'zod'

type TextOfSize = Tool<z.ZodObject<{ characters: z.ZodInt }>, z.ZodString>

/** Calls tools of every kind at once; returns their results. */
export async function ofEveryKind(): Promise<[unknown, number, unknown, unknown]> {
  const [sum, text, who, answer] = await Promise.all([
    callTool('plus', { a: 1, b: 2 }),
    callTool<TextOfSize>('text_of_size', { characters: 600_000 }),
    callTool('whoami', {}, { context: { tenant: 'acme' } }),
    callTool('approve', { id: 1 }),
  ])
  return [sum, text.length, who, answer]
}

/** Calls that fail; returns the type and the message of each failure. */
export async function failing(): Promise<string[]> {
  const calls = [
    callTool('plus', { a: 1 }),
    callTool('nothing', {}),
    callTool('refuse', {}),
    callTool('pay', {}),
    callTool<TextOfSize>('text_of_size', { characters: 3_000_000 }),
  ]
  const settled = await Promise.allSettled(calls)
  return settled.map((each) => {
    if (each.status === 'fulfilled') return 'ok'
    return each.reason instanceof ApplicationFailure
      ? `${each.reason.type} ${each.reason.message}`
      : String(each.reason)
  })
}

/** Makes the same call twice, and again in the next execution of the chain. */
export async function repeated(isContinued = false): Promise<void> {
  await callTool('look', {})
  await callTool('look', {})
  if (!isContinued) await continueAsNew<typeof repeated>(true)
}

export async function look(at: string): Promise<void> {
  await callTool('look', { at })
}
