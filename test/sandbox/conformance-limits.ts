import { afterAll, beforeAll, expect, it } from 'vitest'
import type { SandboxBackend } from '../../src/sandbox/backend.js'
import { TestNotebook } from '../support/notebook.js'
import { iff } from './iff.js'

/** What becomes of cells that take too much, in every backend. */
export function limitsConformance(backendOf: () => SandboxBackend, stopsCode: boolean): void {
  let backend: SandboxBackend
  let notebook: TestNotebook

  beforeAll(async () => {
    backend = backendOf()
    notebook = await new TestNotebook(backend).open()
  })

  afterAll(() => notebook?.close())

  it('end after too many calls, even if they swallow it', async () => {
    const small = await new TestNotebook(backend, { callsPerCell: 3 }).open()
    const { final } = await small.run('while True:\n    try:\n        await get(1)\n    except Exception: pass')
    expect(final).toMatchObject({ type: 'failed', kind: 'limit_exceeded' })
    await small.close()
  })

  it('that do not stop by themselves are stopped at their time', async () => {
    const small = await new TestNotebook(backend, { cellSeconds: 1 }).open()
    await small.run('kept = 1')
    const { final } = await small.run('while True: pass')
    if (stopsCode) {
      expect(final).toMatchObject({ type: 'failed', kind: 'timed_out' })
      expect((await small.run('print(kept)')).output).toBe('1\n')
    } else {
      expect(final).toMatchObject({ type: 'lost', cause: 'killed_at_limit' })
    }
    await small.close()
  })

  it('that are stopped while they wait keep the session, and none of their tasks', async () => {
    notebook.cell += 1
    const source = [
      'import asyncio',
      'before = 1',
      'async def tidy():',
      '    global tidied',
      '    try: await get("slow")',
      '    finally: tidied = True',
      'print("begun")',
      'await asyncio.gather(tidy(), get("other"))',
      'before = 2',
    ].join('\n')
    expect(await notebook.advance({ type: 'cell', cell: notebook.cell, source })).toMatchObject({ type: 'suspended' })
    const stop = { type: 'stop' as const, reason: 'it is late' }
    const stopped = await notebook.advance(stop)
    expect(stopped).toMatchObject({ type: 'failed', kind: 'timed_out', error: expect.stringContaining('it is late') })
    expect(await notebook.send(notebook.step, stop, 2)).toEqual(stopped)
    const next = await notebook.run('print(before, tidied, len(asyncio.all_tasks()))\nprint(await get(3))')
    expect(next.output).toBe("1 True 1\n{'a': 3}\n")
    expect(next.calls).toHaveLength(1)
  })

  it('share out what is captured among their steps, and each may say something', async () => {
    const small = await new TestNotebook(backend, { capturedCharacters: 4_000 }).open()
    const { answers, output } = await small.run('for i in range(6):\n    print(f"{i}" * 3_000)\n    await get(i)')
    expect(answers.map((answer) => ('output' in answer ? answer.output.length : 0)).slice(0, 6)).toEqual([
      expect.closeTo(3_001, 0),
      expect.closeTo(850, -2),
      expect.closeTo(850, -2),
      expect.closeTo(850, -2),
      expect.closeTo(850, -2),
      expect.closeTo(850, -2),
    ])
    expect(output).toMatch(/^0{3000}\n1+\n\[\.\.\. \d+ characters cut \.\.\.\]\n1+\n/)
    await small.close()
  })

  iff(stopsCode)('that do not let themselves be stopped are killed', async () => {
    const small = await new TestNotebook(backend, { cellSeconds: 1 }).open()
    const ignore = 'import signal\nfor s in (14, signal.SIGINT): signal.signal(s, signal.SIG_IGN)\n'
    const { final } = await small.run(`${ignore}while True: pass`)
    expect(final).toMatchObject({ type: 'lost', cause: 'killed_at_limit' })
    await small.close()
  })
}
