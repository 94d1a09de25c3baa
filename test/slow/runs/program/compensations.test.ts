import { expect, it } from 'vitest'
import type { ProgramResult } from '../../../../src/common/run/runs.js'
import { Bookings } from '../../../support/booking-tool.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { inMode } from '../../../support/mode.js'

it('1,000 large calls of hostile code are compensated one after the other, with a small state', async ({ skip }) => {
  skip(inMode('always-replay'), 'it takes longer than ten minutes: each workflow task replays all events before it')
  const bookings = new Bookings()
  const env = await TestEnvironment.start({ tools: [bookings.tool()] })
  const source = `
import asyncio
for begin in range(0, 1_000, 100):
    await asyncio.gather(*(book(what=f"{n} " + "x" * 2_000) for n in range(begin, begin + 100)))
while True: await book(what="one more")`
  const handle = await env.startProgram(source)
  const { outcome, compensation } = (await handle.result()) as ProgramResult
  expect(outcome).toMatchObject({ status: 'limit_exceeded' })
  expect(compensation).toEqual({ compensated: 1_000, failed: 0, failures: [] })
  const [booked, undone] = [bookings.all.slice(0, 1_000), bookings.all.slice(1_000)]
  expect(undone.map((name) => name.slice(1)).toSorted()).toEqual(booked.toSorted())
  expect(bookings.all).toHaveLength(2_000)
  const chain = await env.executionHistories(handle)
  expect(chain.length).toBeGreaterThan(1)
  for (const { events } of chain) {
    const [started] = events ?? []
    const payloads = started?.workflowExecutionStartedEventAttributes?.input?.payloads ?? []
    expect(payloads.reduce((sum, { data }) => sum + (data?.length ?? 0), 0)).toBeLessThan(256 * 1024)
  }
  await env.expectCleanEnd(handle)
})
