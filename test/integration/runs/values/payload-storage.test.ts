import { describe, expect, it, onTestFinished } from 'vitest'
import { createPtcClient } from '../../../../src/client/index.js'
import { answerResult, code, turn } from '../../../support/script.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { connectClient } from '../../../support/temporal/shared-server.js'

const question = `How many words are these? ${'word '.repeat(1_000_000)}`

/** A client without the value store. */
async function withoutStore(env: TestEnvironment) {
  const client = await connectClient()
  onTestFinished(() => client.connection.close())
  return createPtcClient({ client, taskQueue: env.ptc.taskQueue })
}

describe('a question of 5 MB', () => {
  it('a question of 5 MB is answered, shown and replayed, and the history has a reference and a preview', async () => {
    const env = await TestEnvironment.start({
      contextTokens: 4_000_000,
      script: [turn(code("print('a million')")), answerResult],
    })
    const handle = await env.startAgent({ question })
    expect(await handle.result()).toMatchObject({ status: 'answered', answer: 'a million' })
    expect(JSON.stringify(env.api.requests[0]?.body)).toContain(question)

    const [started] = (await env.history()).events
    const [payload] = started?.workflowExecutionStartedEventAttributes?.input?.payloads ?? []
    const kept = Buffer.from(payload?.data ?? []).toString()
    expect(kept.length).toBeLessThan(1_000)
    expect(JSON.parse(kept)).toMatchObject({
      driverName: 'ptc.values',
      claimData: {
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        preview: expect.stringMatching(/^\{"question":"How many/),
      },
    })
    expect(await env.ptc.handle(handle.workflowId).tree()).toMatchObject({ question })
    await env.expectCleanEnd(handle)
  })

  it('a client without the store refuses a question of 5 MB before anything starts', async () => {
    const env = await TestEnvironment.start()
    const ptc = await withoutStore(env)
    await expect(ptc.startAgent({ question })).rejects.toMatchObject({
      code: 'VALUE_STORE_UNKNOWN',
      hint: expect.stringContaining('createDataConverter'),
    })
    expect(await ptc.list()).toEqual([])
  })
})

describe('a result that is stored externally', () => {
  it('a client with the store can read an external result, and one without it gets a typed error', async () => {
    const env = await TestEnvironment.start({ limits: { outputCharacters: 200_000 } })
    // Four bytes per character: over the limit of inline values.
    const handle = await env.startProgram("print('🎈' * 190_000)")
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok' } })
    const ptc = await withoutStore(env)
    await expect(ptc.handle(handle.workflowId).result()).rejects.toMatchObject({ code: 'VALUE_STORE_UNKNOWN' })
  })
})
