import { describe, expect, it } from 'vitest'
import { CancelledFailure } from '@temporalio/common'
import type { ScriptedFault } from '../../../../src/testing/scripted-messages-api/script/faults.js'
import { waitForAbort } from '../../../../src/common/async/abort.js'
import { Bookings } from '../../../support/booking-tool.js'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { call, code, faulty, text, turn } from '../../../support/script.js'
import { Deferred, tool } from '../../../support/tools.js'

const refusedKey: ScriptedFault = { type: 'status', attempt: 'every', status: 401 }
const book = (what: string) => call('book', { what })

describe('calls of an agent', () => {
  it('calls of an agent are compensated when the engine fails, direct calls and calls of code alike', async () => {
    const bookings = new Bookings()
    const env = await TestEnvironment.start({
      tools: [bookings.tool()],
      script: [
        turn(book('flight')),
        turn(code('await book(what="hotel")')),
        faulty([refusedKey], turn(text('booked'))),
      ],
    })
    const handle = await env.startAgent()
    await expect(env.ptc.handle(handle.workflowId).result()).rejects.toMatchObject({ code: 'MODEL_AUTH' })
    expect(bookings.all).toEqual(['flight', 'hotel', '-hotel', '-flight'])
    await env.expectCleanEnd(handle)
  })

  it('calls of an agent are compensated when it ends without an answer, and kept when it answers', async () => {
    const bookings = new Bookings()
    const script = [turn(book('flight')), turn(book('hotel')), turn(text('booked'))]
    const env = await TestEnvironment.start({ tools: [bookings.tool()], script })
    expect(await env.runAgent({ limits: { turns: 2 } })).toMatchObject({
      status: 'turn_limit',
      compensation: { compensated: 2, failed: 0 },
    })
    expect(bookings.all.splice(0)).toEqual(['flight', 'hotel', '-hotel', '-flight'])
    expect(await env.runAgent()).toMatchObject({ status: 'answered' })
    expect(bookings.all).toEqual(['flight', 'hotel'])
  })

  it('calls of an agent are compensated when it is cancelled, after a call in progress has ended', async () => {
    const bookings = new Bookings()
    const begun = new Deferred()
    const onBooked = async (signal: AbortSignal) => {
      begun.resolve()
      await waitForAbort(signal)
    }
    const env = await TestEnvironment.start({
      tools: [bookings.tool(), bookings.tool('book_slowly', 'once', { onBooked })],
      timeouts: { heartbeat: '1s' },
      script: [turn(book('flight')), turn(call('book_slowly', { what: 'hotel' }))],
    })
    const handle = await env.startAgent()
    await begun.promise
    await handle.cancel()
    await expect(handle.result()).rejects.toMatchObject({ cause: expect.any(CancelledFailure) })
    expect(bookings.all).toEqual(['flight', 'hotel', '-hotel?', '-flight'])
    await env.expectCleanEnd(handle)
  })
})

describe('calls of a message', () => {
  it('calls of a failed message are compensated, and the model reads that with the next message', async () => {
    const bookings = new Bookings()
    const talk = await TestConversation.start({
      tools: [bookings.tool()],
      script: [
        turn(book('flight')),
        { ...turn(text('sorry')), match: { lastUserText: 'Booked?' } },
        { ...faulty([refusedKey], turn(text('late'))), match: { lastToolResult: '{"id":"id of flight"}' } },
      ],
    })
    const { conversation } = talk
    expect(await conversation.ask('Book.')).toMatchObject({ status: 'failed', compensation: { compensated: 1 } })
    expect(bookings.all).toEqual(['flight', '-flight'])
    expect(await conversation.ask('Booked?')).toMatchObject({ status: 'answered', answer: 'sorry' })
    expect(JSON.stringify(talk.sentMessages)).toContain('so its calls were undone: 1 call was compensated.')
    await talk.close()
  })

  it('calls of an interrupted message are compensated; those of answered messages are kept', async () => {
    const bookings = new Bookings()
    const called = new Deferred()
    const wait = tool('wait', async (_input, { signal }) => {
      called.resolve()
      await waitForAbort(signal)
    })
    const talk = await TestConversation.start({
      tools: [bookings.tool(), wait],
      script: [turn(book('flight')), turn(text('booked')), turn(book('hotel')), turn(call('wait'))],
    })
    const { conversation } = talk
    const first = await conversation.ask('Book a flight.')
    expect(first).toMatchObject({ status: 'answered' })
    expect(first).not.toHaveProperty('compensation')
    const second = conversation.ask('Book a hotel.')
    await called.promise
    await conversation.interrupt()
    expect(await second).toMatchObject({ status: 'interrupted', compensation: { compensated: 1, failed: 0 } })
    expect(bookings.all).toEqual(['flight', 'hotel', '-hotel'])
    await talk.close()
  })
})
