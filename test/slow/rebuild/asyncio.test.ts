import { describe, expect, it } from 'vitest'
import { backends } from '../../support/environment/backends.js'
import { runWithLostSandbox } from '../../support/environment/rebuilt-agent.js'

describe.each(backends)('a rebuilt asyncio program, in %s', (backend) => {
  it('a rebuilt program repeats no effect of a task that an earlier asyncio.run left unfinished', async () => {
    const { result, notes, cellResults } = await runWithLostSandbox(backend, [
      `
import asyncio
async def left_over():
    await asyncio.sleep(0.01)
    await note(left_over=True)
async def first():
    said = await echo(value="first")
    asyncio.create_task(left_over())
    await asyncio.sleep(0)
    return said
print(asyncio.run(first()))`,
      `
async def second():
    said = await wait()
    await asyncio.sleep(0.05)
    await note(second=said)
    return said
print(asyncio.run(second()))`,
    ])
    expect(cellResults[0], JSON.stringify(cellResults)).toMatchObject({ content: 'first' })
    expect(result).toMatchObject({ status: 'answered', answer: 'waited' })
    expect(notes).toEqual([{ second: 'waited' }])
  })

  it('a rebuilt program measures the time without a sandbox with perf_counter and monotonic', async () => {
    const { result } = await runWithLostSandbox(backend, [
      `
import asyncio, time
def look(): return time.time(), time.monotonic(), time.perf_counter(), time.perf_counter_ns() / 1e9
begun = look()
await asyncio.sleep(6)
await wait()
wall, *measured = (now - then for now, then in zip(look(), begun))
print(wall >= 6, [seconds > wall - 3 for seconds in measured])`,
    ])
    expect(result).toMatchObject({ status: 'answered', answer: 'True [True, True, True]' })
  })
})

describe.runIf(backends.includes('docker'))('threads beside an open call', () => {
  it('threads run while a call is open, and the program continues after its container was killed', async () => {
    const { result, notes, cellResults } = await runWithLostSandbox('docker', [
      `
import asyncio
log = []
async def local():
    log.append(await asyncio.to_thread(lambda: "thread"))
    child = await asyncio.create_subprocess_exec("sleep", "0.1")
    log.append(await child.wait())
async def tool():
    log.append(await wait())
await asyncio.gather(tool(), local())
await note(log=sorted(map(str, log)))
print(len(log))`,
      'await note(next=await echo(value=len(log)))\nprint("end")',
    ])
    expect(cellResults[0], JSON.stringify(cellResults)).toMatchObject({ content: '3' })
    expect(result).toMatchObject({ status: 'answered', answer: 'end' })
    expect(notes).toEqual([{ log: ['0', 'thread', 'waited'] }, { next: 3 }])
  })
})
