import { describe, expect, it } from 'vitest'
import { call, code, answerResult, turn } from '../../support/script.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { sessionSummaries } from '../../support/environment/activity-summaries.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { Deferred, tool } from '../../support/tools.js'

const parkAfter = '1s'

/** A tool that counts its effects by name, and one that returns when the test releases it. */
function mailTools() {
  const effects: unknown[] = []
  const called = new Deferred()
  const mail = new Deferred<string>()
  const tools = [
    tool('charge', ({ name }) => effects.push(name)),
    tool('wait_for_mail', async () => {
      called.resolve()
      return mail.promise
    }),
  ]
  return { effects, called, mail, tools }
}

describeDocker('programs with a long wait', () => {
  it('a program that waits long for a tool releases its container, and continues in another one', async () => {
    const { effects, mail, tools } = mailTools()
    const env = await TestEnvironment.start({ tools, timeouts: { park: parkAfter } })
    const source = `
kept = await charge(name="before")
print(await wait_for_mail(), kept)
await charge(name="after")
`
    const handle = await env.startProgram(source)
    await expect.poll(() => sessionSummaries(env)).toContain('park the session')
    await expect.poll(() => env.containers(handle)).toEqual([])
    mail.resolve('a letter')
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'a letter 1\n' }, toolCalls: 3 })
    expect(effects).toEqual(['before', 'after'])
    // A slow machine may park more often, and always-evict rebuilds more. In every mode this wait parks the session,
    // and the end of the wait wakes it.
    const rows = (await sessionSummaries(env)).join('\n')
    expect(rows).toMatch(
      /park the session\nresume the session \(\d+\)\nrepeat \d+ recorded steps?\ncontinue with 1 result/,
    )
    expect(rows).toMatch(/^open a session \(docker\)\nrun cell 1\n[^]*\nclose the session$/)
    await env.expectCleanEnd(handle)
  })

  it('a program with a long wait for a timer uses neither a container nor a worker slot', async () => {
    const env = await TestEnvironment.start({ timeouts: { park: parkAfter } })
    const handle = await env.startProgram('import asyncio\nawait asyncio.sleep(3600)')
    await expect.poll(() => sessionSummaries(env)).toContain('park the session')
    await expect.poll(() => env.containers(handle)).toEqual([])
    await expect.poll(async () => (await handle.describe()).raw.pendingActivities).toEqual([])
    await handle.cancel()
    await expect(handle.result()).rejects.toThrow(/cancel/i)
    await env.expectCleanEnd(handle)
  })

  it('a parked program continues when its timer fires', async () => {
    const env = await TestEnvironment.start({ timeouts: { park: parkAfter } })
    const { outcome } = await env.runProgram('import asyncio\nx = 1\nawait asyncio.sleep(6)\nprint(x)')
    expect(outcome).toMatchObject({ status: 'ok', output: '1\n' })
    expect(await sessionSummaries(env)).toContain('resume the session (2)')
  })

  it('a program with several long waits is woken each time, which does not count as a crash', async () => {
    const mails = Array.from({ length: 4 }, () => new Deferred<null>())
    const effects: unknown[] = []
    const charge = tool('charge', ({ name }) => effects.push(name))
    const wait = tool('wait_for_mail', ({ n }) => mails[Number(n)]?.promise)
    const env = await TestEnvironment.start({ tools: [charge, wait], timeouts: { park: parkAfter } })
    const source = 'for n in range(4):\n    await charge(name=n)\n    await wait_for_mail(n=n)\nprint("woke")'
    const handle = await env.startProgram(source)
    const parked = async (): Promise<number> =>
      (await sessionSummaries(env)).filter((summary) => summary === 'park the session').length
    for (const [n, mail] of mails.entries()) {
      // A slow machine may park for a charge, too.
      await expect.poll(parked).toBeGreaterThan(n)
      mail.resolve(null)
    }
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'woke\n' } })
    expect(effects).toEqual([0, 1, 2, 3])
    await env.expectCleanEnd(handle)
  })

  it('a parked program can time out or be cancelled, and leaves nothing behind', async () => {
    const { called, tools } = mailTools()
    const env = await TestEnvironment.start({ tools, timeouts: { park: parkAfter } })
    // The timeout starts before the sandbox is created, which may take a while.
    const overdue = await env.runProgram('await wait_for_mail()', { limits: { cellTotalSeconds: 15 } })
    expect(overdue.outcome).toMatchObject({ status: 'timed_out', sessionKept: true })
    expect(await sessionSummaries(env)).toContain('park the session')
    const handle = await env.startProgram('await wait_for_mail()')
    await called.promise
    await expect.poll(() => sessionSummaries(env)).toContain('park the session')
    await handle.cancel()
    await expect(handle.result()).rejects.toThrow(/cancel/i)
    await env.expectCleanEnd(handle)
  })

  it('a parked program ends as diverged when the rebuild makes other calls', async () => {
    const { tools } = mailTools()
    const env = await TestEnvironment.start({ tools, timeouts: { park: parkAfter } })
    const source = `
import asyncio
await charge(name=open("/proc/sys/kernel/random/uuid").read())
await asyncio.sleep(6)
`
    const { outcome } = await env.runProgram(source)
    expect(outcome).toMatchObject({ status: 'diverged' })
  })
})

describeDocker('agents that run no code for a long time', () => {
  it('an agent that runs no code for long releases its container, and keeps its variables', async () => {
    const { mail, tools } = mailTools()
    const script = [turn(code('x = 41')), turn(call('wait_for_mail')), turn(code('print(x + 1)')), answerResult]
    const env = await TestEnvironment.start({ tools, script, timeouts: { idle: '1s' } })
    const handle = await env.startAgent()
    await expect.poll(() => sessionSummaries(env)).toContain('park the session')
    await expect.poll(() => env.containers(handle)).toEqual([])
    mail.resolve('now')
    expect(await handle.result()).toMatchObject({ status: 'answered', answer: '42' })
    await env.expectCleanEnd(handle)
  })
})

describe('a program with short waits', () => {
  it('a program with short waits keeps its sandbox, and uses one timer for all waits', async () => {
    const { tools } = mailTools()
    const env = await TestEnvironment.start({ tools })
    await env.runProgram('for n in range(5): await charge(name=n)')
    expect(await sessionSummaries(env)).not.toContain('park the session')
    const { events } = await env.history()
    expect(events.filter(({ timerStartedEventAttributes: timer }) => timer)).toHaveLength(1)
  })
})
