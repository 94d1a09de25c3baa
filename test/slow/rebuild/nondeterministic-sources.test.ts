import { describe, expect, it } from 'vitest'
import { activitySummaries } from '../../support/environment/activity-summaries.js'
import { backends } from '../../support/environment/backends.js'
import { runWithLostSandbox } from '../../support/environment/rebuilt-agent.js'

/** Every source of nondeterminism, in the ways in which code uses it. */
const nondeterministicSources = `
import asyncio, os, random, secrets, tempfile, time, uuid
from datetime import date, datetime, timezone

def sources():
    random_numbers = [random.random(), random.Random().random(), random.SystemRandom().random(), secrets.randbelow(10**9)]
    return {
        "time": time.time(), "time_ns": str(time.time_ns()), "loop": asyncio.get_running_loop().time(),
        "now": datetime.now().isoformat(), "utc": datetime.now(timezone.utc).isoformat(), "naive": str(datetime.utcnow()),
        "today": str(date.today()), "datetime_today": str(datetime.today()),
        "text": [time.ctime(), time.asctime(), time.strftime("%c"), list(time.localtime()), list(time.gmtime())],
        "uuid": [str(uuid.uuid4()), str(uuid.uuid1())], "bytes": os.urandom(9).hex(), "token": secrets.token_urlsafe(9),
        "random": random_numbers, "name": os.path.basename(tempfile.mkstemp()[1]),
        "set": list({str(n) for n in range(30)}), "hash": str(hash("text")), "host": os.uname().nodename,
    }

kept = sources()
await note(kept=kept)
`

describe.each(backends)('a rebuild of ordinary code, in %s', (backend) => {
  it('a rebuild replays clock, identifiers and random numbers', async () => {
    const began = Date.now()
    const { result, notes, cellResults, releasedAt, env } = await runWithLostSandbox(backend, [
      nondeterministicSources,
      'before = sources()\nawait note(before=before)\nprint(await wait())\nafter = sources()\nawait note(after=after)',
      'import json\nprint(json.dumps([{"kept": kept}, {"before": before}, {"after": after}]))',
    ])
    expect(cellResults[1], JSON.stringify(cellResults)).toMatchObject({ content: 'waited' })
    expect(result).toMatchObject({ status: 'answered' })
    // The variables have the values with which the calls were made, before and after.
    expect(JSON.parse(result.answer)).toEqual(notes)
    expect(notes).toHaveLength(3)
    const times = notes.map((note) => Number(Object.values(note as Record<string, { time: number }>)[0]?.time) * 1_000)
    expect(times).toEqual([...times].sort((one, other) => one - other))
    expect(times[0]).toBeGreaterThan(began)
    expect(times[2]).toBeGreaterThan(releasedAt - 10)
    expect(times[2]).toBeLessThan(Date.now())
    const stepSummaries = await activitySummaries(env)
    expect(stepSummaries.filter((summary) => summary?.startsWith('repeat '))).toHaveLength(1)
  })

  it('a rebuild replays clock, identifiers and random numbers after a continue-as-new', async () => {
    const source = 'stamp = sources()["now"]\nawait note(stamp=stamp)\nfor n in range(15): await echo(value=sources())'
    const cells = [
      nondeterministicSources,
      source,
      source,
      'print(await wait())',
      'await note(last=stamp)\nprint(kept["now"], stamp)',
    ]
    const { result, notes, cellResults, env } = await runWithLostSandbox(backend, cells, {
      limits: { historyEvents: 100 },
    })
    expect(cellResults[3], JSON.stringify(cellResults)).toMatchObject({ content: 'waited' })
    expect((await env.executionHistories()).length).toBeGreaterThan(1)
    const [first, , stamp, last] = notes as unknown as readonly { kept: { now: string }; stamp: string; last: string }[]
    expect(result.answer).toBe(`${first?.kept.now} ${stamp?.stamp}`)
    expect(last?.last).toBe(stamp?.stamp)
    expect(notes).toHaveLength(4)
  })

  it('a rebuild repeats parallel calls in the same order, with any order of results', async () => {
    const source = `
import asyncio, random
seen = []
async def one(n):
    seen.append(await echo(value=n))
    await note(after=list(seen), random=random.random())
await asyncio.gather(*(one(n) for n in range(6)))
for each in asyncio.as_completed([echo(value=n) for n in range(30)]):
    await note(completed=await each)
waiting = {asyncio.ensure_future(echo(value=n)) for n in range(30)}
while waiting:
    done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in done: await note(done=task.result())
print(await wait(), len(seen))`
    const { result, notes } = await runWithLostSandbox(backend, [source])
    expect(result.answer).toBe('waited 6')
    expect(notes).toHaveLength(66)
  })

  it('a rebuild repeats the same number of polls until a deadline, and the same order of timers', async () => {
    const source = `
import asyncio, time
async def polls(now, pause, seconds):
    deadline, count = now() + seconds, 0
    while now() < deadline:
        count += 1
        await note(poll=count, at=now())
        await asyncio.sleep(pause)
    return count
order = []
async def later(name, seconds):
    await asyncio.sleep(seconds)
    order.append(name)
racing = [asyncio.ensure_future(later("first", 0.3))]
await asyncio.sleep(0)
sum(range(2_000_000))
racing.append(asyncio.ensure_future(later("second", 0.3)))
counts = [await polls(time.time, 0.3, 2), await polls(asyncio.get_running_loop().time, 1.2, 2)]
await asyncio.gather(*racing)
await note(order=order)
try:
    async with asyncio.timeout(1.5): await wait()
except TimeoutError: await note(timeout=time.time())
print(await wait(), counts)`
    const { result, notes } = await runWithLostSandbox(backend, [source])
    const polls = notes.filter((note) => 'poll' in note)
    expect(result.answer).toMatch(/^waited \[\d, \d\]$/)
    expect(new Set(polls.map(({ at }) => at)).size).toBe(polls.length)
    expect(notes).toContainEqual({ order: ['first', 'second'] })
  })
})
