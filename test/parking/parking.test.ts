import { describe, expect, it } from 'vitest'
import { call, code, answerResult, turn } from '../support/script.js'
import { describeDocker } from '../support/docker.js'
import { Stack } from '../support/stack.js'
import { Happening, tool } from '../support/tools.js'

const park = '1s'

/** A tool that counts how often each thing was done, and one that answers when it is told to. */
function world() {
  const effects: unknown[] = []
  const asked = new Happening()
  const mail = new Happening<string>()
  const tools = [
    tool('charge', ({ name }) => effects.push(name)),
    tool('wait_for_mail', async () => {
      asked.happen()
      return mail.happened
    }),
  ]
  return { effects, asked, mail, tools }
}

async function summaries(stack: Stack): Promise<(string | undefined)[]> {
  const rows = await stack.activities()
  return rows.filter(({ type }) => type.startsWith('session.')).map(({ summary }) => summary)
}

describeDocker('a program that waits for long', () => {
  it('for a tool gives its container back, and goes on in another when the answer comes', async () => {
    const { effects, mail, tools } = world()
    const stack = await Stack.start({ tools, timings: { park } })
    const source = `
kept = await charge(name="before")
print(await wait_for_mail(), kept)
await charge(name="after")
`
    const handle = await stack.startProgram(source)
    await expect.poll(() => summaries(stack)).toContain('park the session')
    await expect.poll(() => stack.containers(handle)).toEqual([])
    mail.happen('a letter')
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'a letter 1\n' }, toolCalls: 3 })
    expect(effects).toEqual(['before', 'after'])
    // A slow machine may park more often, and always-evict rebuilds more; that this wait parked it and its end woke it is in all of them.
    const rows = (await summaries(stack)).join('\n')
    expect(rows).toMatch(/park the session\nwake the session \(\d+\)\nrepeat \d+ recorded steps?\ngo on with 1 result/)
    expect(rows).toMatch(/^open a session \(docker\)\nrun cell 1\n[^]*\nclose the session$/)
    await stack.leftClean(handle)
  })

  it('for a timer holds neither a container nor a place on a worker', async () => {
    const stack = await Stack.start({ timings: { park } })
    const handle = await stack.startProgram('import asyncio\nawait asyncio.sleep(3600)')
    await expect.poll(() => summaries(stack)).toContain('park the session')
    await expect.poll(() => stack.containers(handle)).toEqual([])
    await expect.poll(async () => (await handle.describe()).raw.pendingActivities).toEqual([])
    await handle.cancel()
    await expect(handle.result()).rejects.toThrow(/cancel/i)
    await stack.leftClean(handle)
  })

  it('for a timer goes on when it fires', async () => {
    const stack = await Stack.start({ timings: { park } })
    const { outcome } = await stack.run('import asyncio\nx = 1\nawait asyncio.sleep(6)\nprint(x)')
    expect(outcome).toEqual({ status: 'ok', output: '1\n' })
    expect(await summaries(stack)).toContain('wake the session (2)')
  })

  it('again and again is woken as often: that is no crash', async () => {
    const mails = Array.from({ length: 4 }, () => new Happening<null>())
    const effects: unknown[] = []
    const charge = tool('charge', ({ name }) => effects.push(name))
    const wait = tool('wait_for_mail', ({ n }) => mails[Number(n)]?.happened)
    const stack = await Stack.start({ tools: [charge, wait], timings: { park } })
    const source = 'for n in range(4):\n    await charge(name=n)\n    await wait_for_mail(n=n)\nprint("woke")'
    const handle = await stack.startProgram(source)
    const parked = async (): Promise<number> =>
      (await summaries(stack)).filter((summary) => summary === 'park the session').length
    for (const [n, mail] of mails.entries()) {
      // Not exactly: a slow machine may park for a charge as well.
      await expect.poll(parked).toBeGreaterThan(n)
      mail.happen(null)
    }
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'woke\n' } })
    expect(effects).toEqual([0, 1, 2, 3])
    await stack.leftClean(handle)
  })

  it('can be stopped while it is parked, by its time and from outside, and nothing is left', async () => {
    const { asked, tools } = world()
    const stack = await Stack.start({ tools, timings: { park } })
    // Its time begins before its sandbox is made, which may take a while.
    const overdue = await stack.run('await wait_for_mail()', { limits: { cellTotalSeconds: 15 } })
    expect(overdue.outcome).toMatchObject({ status: 'timed_out', sessionKept: true })
    expect(await summaries(stack)).toContain('park the session')
    const handle = await stack.startProgram('await wait_for_mail()')
    await asked.happened
    await expect.poll(() => summaries(stack)).toContain('park the session')
    await handle.cancel()
    await expect(handle.result()).rejects.toThrow(/cancel/i)
    await stack.leftClean(handle)
  })

  it('and did not repeat itself is told so', async () => {
    const { tools } = world()
    const stack = await Stack.start({ tools, timings: { park } })
    const source = `
import asyncio
await charge(name=open("/proc/sys/kernel/random/uuid").read())
await asyncio.sleep(6)
`
    const { outcome } = await stack.run(source)
    expect(outcome).toMatchObject({ status: 'diverged' })
  })
})

describeDocker('an agent that runs no code for long', () => {
  it('gives its container back, and has its variables in the next cell', async () => {
    const { mail, tools } = world()
    const script = [turn(code('x = 41')), turn(call('wait_for_mail')), turn(code('print(x + 1)')), answerResult]
    const stack = await Stack.start({ tools, script, timings: { idle: '1s' } })
    const handle = await stack.startAgent()
    await expect.poll(() => summaries(stack)).toContain('park the session')
    await expect.poll(() => stack.containers(handle)).toEqual([])
    mail.happen('now')
    expect(await handle.result()).toMatchObject({ status: 'answered', answer: '42' })
    await stack.leftClean(handle)
  })
})

describe('a program that waits for a short time', () => {
  it('keeps its sandbox, and one timer stands for all its waits', async () => {
    const { tools } = world()
    const stack = await Stack.start({ tools })
    await stack.run('for n in range(5): await charge(name=n)')
    expect(await summaries(stack)).not.toContain('park the session')
    const { events } = await stack.history()
    expect(events.filter(({ timerStartedEventAttributes: timer }) => timer)).toHaveLength(1)
  })
})
