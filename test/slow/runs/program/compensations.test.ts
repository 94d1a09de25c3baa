import { expect, it } from 'vitest'
import type { ProgramResult } from '../../../../src/common/runs/runs.js'
import { Bookings } from '../../../support/booking-tool.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { inMode } from '../../../support/mode.js'

// A workflow task that replays everything takes the longer, the more calls there are.
const calls = inMode('always-replay') ? 300 : 1_000

it('compensates as many large calls of hostile code as a run may have, one after the other, with a small state', async () => {
  const bookings = new Bookings()
  const env = await TestEnvironment.start({ tools: [bookings.tool()], limits: { compensations: calls } })
  const source = `
import asyncio
for begin in range(0, ${calls}, 100):
    await asyncio.gather(*(book(what=f"{n} " + "x" * 2_000) for n in range(begin, begin + 100)))
while True: await book(what="one more")`
  const handle = await env.startProgram(source)
  const { outcome, compensation } = (await handle.result()) as ProgramResult
  expect(outcome).toMatchObject({ status: 'limit_exceeded' })
  expect(compensation).toEqual({ compensated: calls, failed: 0, failures: [] })
  const [booked, undone] = [bookings.all.slice(0, calls), bookings.all.slice(calls)]
  expect(undone.map((name) => name.slice(1)).toSorted()).toEqual(booked.toSorted())
  expect(bookings.all).toHaveLength(2 * calls)
  const chain = await env.executionHistories(handle)
  expect(chain.length).toBeGreaterThan(1)
  for (const { events } of chain) {
    const [started] = events ?? []
    const payloads = started?.workflowExecutionStartedEventAttributes?.input?.payloads ?? []
    expect(payloads.reduce((sum, { data }) => sum + (data?.length ?? 0), 0)).toBeLessThan(256 * 1024)
  }
  await env.expectCleanEnd(handle)
})
