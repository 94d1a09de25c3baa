import { expect, it } from 'vitest'
import { cellReplySignal } from '../../../../src/common/names.js'
import { heldTool, isNewNote, startBound } from '../../../support/environment/bound-conversation.js'
import { resetToCall } from '../../../support/environment/reset.js'
import { waitForEvents } from '../../../support/environment/waits.js'
import { answerResult, code, text, turn } from '../../../support/script.js'
import { Deferred, tool } from '../../../support/tools.js'

it('a run notices by itself that its session was terminated', async () => {
  const { hold, called } = heldTool()
  const { talk, conversation, books } = await startBound({
    tools: [hold],
    script: [turn(code('await hold()')), turn(text('lost'))],
  })
  const asked = conversation.ask('Begin.')
  await called
  await books.handle.terminate()
  expect(await asked).toMatchObject({ status: 'answered', answer: 'lost' })
  expect(talk.sentMessages.at(-1)?.content).toMatchObject([
    { content: expect.stringContaining('ended before the code had ended') },
  ])
  await talk.close()
})

it('code that arrives while the session closes runs in the next session', async () => {
  const { talk, conversation, books } = await startBound({
    script: [turn(code('x = 1')), answerResult, turn(code('print("x" in globals())')), answerResult],
  })
  await conversation.ask('Begin.')
  // The workflow answers, and removes the sandbox afterwards.
  await books.handle.signal('close')
  expect(await conversation.ask('Go on.')).toMatchObject({ answer: `False\n${isNewNote(books)}` })
  await talk.close()
  await books.close()
})

it('an interruption takes back a cell that waits for cells of other runs, and does not stop those', async () => {
  const { hold, called, release } = heldTool()
  const { talk, conversation, books } = await startBound({
    tools: [hold],
    script: [turn(code('print("never")')), turn(text('unused'))],
  })
  const executing = books.execute('print(await hold())')
  await called
  const asked = conversation.ask('Begin.')
  await waitForEvents(books.handle, 1, ({ workflowExecutionSignaledEventAttributes: signal }) => Boolean(signal))
  await conversation.interrupt()
  release()
  expect(await asked).toMatchObject({ status: 'interrupted' })
  expect(await executing).toMatchObject({ outcome: { status: 'ok', output: 'released\n' } })
  await talk.close()
  await books.close()
})

it('the cancellation of a conversation stops its code, and the session continues', async () => {
  const { hold, called } = heldTool()
  const { talk, conversation, books } = await startBound({
    tools: [hold],
    script: [turn(code('x = 7\nawait hold()')), turn(text('unused'))],
  })
  const asked = conversation.ask('Begin.').catch((thrown: unknown) => thrown)
  await called
  await talk.handle.cancel()
  expect(await asked).toMatchObject({ code: 'RUN_CANCELLED' })
  expect(await books.outputOf('print(x)')).toBe('7\n')
  await talk.env.expectCleanEnd(talk.handle)
  await books.close()
})

it('calls of tools that the run does not have are denied, though the session has them', async () => {
  const { talk, conversation, books } = await startBound(
    {
      tools: [tool('mine', () => 'mine'), tool('other', () => 'other', { execution: 'local' })],
      script: [
        turn(code('print(await mine())\ntry:\n    await other()\nexcept ToolDenied as denied:\n    print(denied)')),
        answerResult,
      ],
    },
    { tools: ['mine'] },
  )
  expect(await books.outputOf('print(await other())')).toBe('other\n')
  expect(await conversation.ask('Begin.')).toMatchObject({ answer: 'mine\nthere is no tool named other' })
  expect(await books.outputOf('print(await other())')).toBe('other\n')
  await talk.close()
  await books.close()
})

it('a reset repeats the cells after it in the session, which is not reset', async () => {
  const { talk, conversation, books } = await startBound({
    tools: [tool('ping', () => 'pong')],
    script: [turn(code('runs = globals().get("runs", 0) + 1\nprint(runs)')), answerResult],
  })
  await books.outputOf('pass')
  expect(await conversation.ask('Begin.', { id: 'first' })).toMatchObject({ answer: '1' })
  await resetToCall(talk.env, talk.handle, 'model.turn')
  expect(await conversation.answer('first')).toMatchObject({ answer: '2' })
  await talk.close()
  await books.close()
})

it('a reset in the middle of a cell interrupts the cell that it has left behind', async () => {
  const calls: Deferred[] = [new Deferred(), new Deferred()]
  const released = new Deferred<string>()
  let called = 0
  const hold = tool('hold', () => {
    calls[called]?.resolve()
    called += 1
    return released.promise
  })
  const { talk, conversation, books } = await startBound({
    tools: [hold],
    script: [turn(code('print(await hold())')), answerResult],
  })
  await books.outputOf('pass')
  await conversation.send('Begin.', { id: 'first' })
  await calls[0]?.promise
  await resetToCall(talk.env, talk.handle, 'model.turn')
  await calls[1]?.promise
  released.resolve('released')
  expect(await conversation.answer('first')).toMatchObject({ answer: 'released' })
  await talk.close()
  await books.close()
})

it('a named session is for a single question, too', async () => {
  const { talk, books } = await startBound({ script: [turn(code('print(x)')), answerResult] })
  await books.outputOf('x = 5')
  expect(await talk.env.runAgent({ session: books.name })).toMatchObject({ answer: '5', cells: 1 })
  await books.close()
  const { events } = await talk.env.history(talk.env.lastRun)
  const replies = events.filter(
    ({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName === cellReplySignal,
  )
  expect(replies).toHaveLength(1)
})
