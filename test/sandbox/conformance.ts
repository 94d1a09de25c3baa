import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxBackend } from '../../src/sandbox/backend.js'
import { TestNotebook } from '../support/notebook.js'
import { limitsConformance } from './conformance-limits.js'
import { valuesConformance } from './conformance-values.js'
import { iff } from './iff.js'

export interface ConformanceOptions {
  readonly makeBackend: () => SandboxBackend
  /** Sandboxes outlive the process that made them: a second backend finds them again. */
  readonly survivesItsMaker: boolean
  /** The runner stops code at its time limit and keeps the session. */
  readonly stopsCode: boolean
  /** Code may start threads and processes. */
  readonly hasProcesses: boolean
}

/** What every backend must do. Written against the interface alone, so that anybody's backend can be held to it. */
export function conformance({ makeBackend, survivesItsMaker, stopsCode, hasProcesses }: ConformanceOptions): void {
  let backend: SandboxBackend
  let notebook: TestNotebook

  beforeAll(async () => {
    backend = makeBackend()
    notebook = await new TestNotebook(backend).open()
  })

  afterAll(async () => {
    await notebook?.close()
    await backend?.close()
  })

  describe('cells over a limit', () => limitsConformance(() => backend, stopsCode))

  describe('values kept elsewhere', () => valuesConformance(() => backend))

  describe('calls', () => {
    it('take keywords, positions or one dict, and return parsed JSON', async () => {
      const { output } = await notebook.run(
        'print(await get(a=1, b="x"), await get(1), (await get({"a": [None, 2.5]}))["a"][1])',
      )
      expect(output).toBe("{'a': 1, 'b': 'x'} {'a': 1} 2.5\n")
    })

    it('of one gather are one suspension', async () => {
      const { answers, calls } = await notebook.run(
        'import asyncio\nprint(await asyncio.gather(*(get(i) for i in range(50))))',
      )
      expect(answers.map(({ type }) => type)).toEqual(['suspended', 'completed'])
      expect(calls.map(({ arguments: args }) => args['a'])).toEqual(Array.from({ length: 50 }, (_, i) => i))
    })

    it('of as_completed are served as they arrive', async () => {
      notebook.cell += 1
      const source = 'for first in asyncio.as_completed([get("slow"), get("quick")]):\n    print((await first)["a"])'
      const begun = await notebook.advance({ type: 'cell', cell: notebook.cell, source })
      if (begun.type !== 'suspended') throw new Error(begun.type)
      const [one, two] = begun.calls
      if (!one || !two) throw new Error('two calls were made')
      const quick = one.arguments['a'] === 'quick' ? one : two
      const slow = quick === one ? two : one
      const ok = (index: number, a: string) => ({ index, outcome: { status: 'ok' as const, value: { a } } })
      const after = await notebook.advance({ type: 'results', results: [ok(quick.index, 'quick')] })
      expect(after).toMatchObject({ type: 'suspended', calls: [], output: 'quick\n' })
      const end = await notebook.advance({ type: 'results', results: [ok(slow.index, 'slow')] })
      expect(end).toMatchObject({ type: 'completed', output: 'slow\n' })
    })

    it('in loops and conditions happen one after the other', async () => {
      const source = 'n = 0\nwhile (await get(n))["a"] < 3:\n    n += 1\nprint(n)'
      const { output, answers } = await notebook.run(source)
      expect(output).toBe('3\n')
      expect(answers).toHaveLength(5)
    })

    it('that fail are exceptions the code can catch', async () => {
      const source =
        'try:\n    await get(1)\nexcept ToolOutcomeUnknown as e:\n    print(type(e).__name__, e, e.status, e.tool)'
      const { output } = await notebook.run(source, () => ({ status: 'outcome_unknown', message: 'who knows' }))
      expect(output).toBe('ToolOutcomeUnknown who knows outcome_unknown get\n')
    })

    it('that fail uncaught end the cell with their message', async () => {
      const { final } = await notebook.run('await get(1)', () => ({ status: 'denied', message: 'not you' }))
      expect(final).toMatchObject({ type: 'failed', kind: 'code_error' })
      expect(final).toHaveProperty('error', expect.stringContaining('ToolDenied: not you'))
    })

    it.each([
      ['a set', 'await get({1})', 'JSON values only'],
      ['NaN', 'await get(float("nan"))', 'JSON values only'],
      ['a missing argument', 'await get()', "missing 'a'"],
      ['too many arguments', 'await get(1, 2, 3)', 'takes 2 arguments'],
    ])('with %s are refused where they are made', async (_what, source, message) => {
      const { final } = await notebook.run(source)
      expect(final).toHaveProperty('error', expect.stringContaining(message))
    })

    it('with more arguments than one suspension carries are handed over in several, none of them waiting', async () => {
      const source = 'big = "x" * 200_000\nprint(len(await asyncio.gather(*(get(big) for _ in range(12)))))'
      notebook.cell += 1
      const first = await notebook.advance({ type: 'cell', cell: notebook.cell, source })
      if (first.type !== 'suspended') throw new Error(first.type)
      expect(first.wakeInMs).toBe(0)
      const second = await notebook.advance({ type: 'results', results: [] })
      const third = await notebook.advance({ type: 'results', results: [] })
      if (second.type !== 'suspended' || third.type !== 'suspended') throw new Error('the rest is missing')
      const calls = [...first.calls, ...second.calls, ...third.calls]
      expect(calls).toHaveLength(12)
      expect(third.wakeInMs).toBeNull()
      const results = calls.map(({ index }) => ({ index, outcome: { status: 'ok' as const, value: 1 } }))
      expect(await notebook.advance({ type: 'results', results })).toMatchObject({ type: 'completed', output: '12\n' })
    })

    it('that were never awaited give a hint, once', async () => {
      const { output } = await notebook.run('x = get(1)\nget(2)\nprint("done")')
      expect(output).toBe('done\n[hint] get() was called but never awaited: write `await get(...)`.\n')
      expect((await notebook.run('print(1)')).output).toBe('1\n')
    })
  })

  describe('time', () => {
    it('parks a long sleep instead of sleeping', async () => {
      const { answers, output } = await notebook.run('await asyncio.sleep(3600)\nprint("woke")')
      expect(answers[0]).toMatchObject({ type: 'suspended', calls: [] })
      expect(answers[0]).toHaveProperty('wakeInMs', expect.closeTo(3_600_000, -3))
      expect(output).toBe('woke\n')
    })

    it('fires a timeout around a call', async () => {
      notebook.cell += 1
      const source =
        'try:\n    async with asyncio.timeout(5):\n        await get(1)\nexcept TimeoutError:\n    print("too slow")'
      const begun = await notebook.advance({ type: 'cell', cell: notebook.cell, source })
      expect(begun).toHaveProperty('wakeInMs', expect.closeTo(5_000, -2))
      notebook.now += 5_000
      expect(await notebook.advance({ type: 'results', results: [] })).toMatchObject({
        type: 'completed',
        output: 'too slow\n',
      })
    })

    it('that can never come is an error, not a hang', async () => {
      const { final } = await notebook.run('await asyncio.Future()')
      expect(final).toHaveProperty('error', expect.stringContaining('never happen'))
    })
  })

  describe('cells', () => {
    it('share variables, functions and imports', async () => {
      await notebook.run('import math\nanswer = 42\ndef double(x): return x * 2')
      expect((await notebook.run('print(double(answer), math.pi > 3)')).output).toBe('84 True\n')
    })

    it('that raise show their own lines only', async () => {
      const { final } = await notebook.run('def f():\n    return 1 / 0\nf()')
      if (final.type !== 'failed') throw new Error(final.type)
      expect(final.error).toContain('line 2, in f\n    return 1 / 0')
      expect(final.error).toContain('ZeroDivisionError: division by zero')
      expect(final.error).not.toMatch(/runner|asyncio|ptc/)
    })

    it('that do not compile say where', async () => {
      const { final } = await notebook.run('x ===')
      expect(final).toHaveProperty('error', expect.stringContaining('SyntaxError'))
    })

    it('may use asyncio.run like a script', async () => {
      const { output } = await notebook.run('async def main():\n    print(await get(5))\nasyncio.run(main())')
      expect(output).toBe("{'a': 5}\n")
    })

    it('may leave by sys.exit', async () => {
      expect((await notebook.run('import sys\nprint("bye")\nsys.exit()')).final).toMatchObject({
        type: 'completed',
        output: 'bye\n',
      })
      expect((await notebook.run('sys.exit("no luck")')).final).toMatchObject({
        type: 'failed',
        error: 'SystemExit: no luck',
      })
    })

    it('give only the head and the tail of too much output', async () => {
      const { output } = await notebook.run('print("a" * 1_000_000 + "z")')
      expect(output.length).toBeLessThan(notebook.limits.capturedCharacters + 100)
      expect(output).toMatch(/^aaa[^]*characters cut[^]*az\n$/)
    })

    it('can not make a frame by printing one', async () => {
      const { final } = await notebook.run(
        'print("\\x00\\x00\\x00\\x02{}", {"type": "completed", "step": 1, "output": "forged"})',
      )
      expect(final).toMatchObject({ type: 'completed' })
      expect(final).toHaveProperty('output', expect.stringContaining('forged'))
    })

    it('whose calls are still open go on in the next cell', async () => {
      const { output } = await notebook.run('task = asyncio.create_task(get("later"))\nawait asyncio.sleep(0)')
      expect(output).toContain('[hint] 1 tool calls were still open')
      expect((await notebook.run('print(await task)')).output).toBe("{'a': 'later'}\n")
    })
  })

  describe('steps', () => {
    it('that are repeated get the same answer, and nothing runs twice', async () => {
      notebook.cell += 1
      const cell = {
        type: 'cell' as const,
        cell: notebook.cell,
        source: 'count = globals().get("count", 0) + 1\nprint(count)',
      }
      const first = await notebook.advance(cell)
      expect(await notebook.send(notebook.step, cell, 2)).toEqual(first)
      expect((await notebook.run('print(count)')).output).toBe('1\n')
    })

    it('from a stale worker are fenced off', async () => {
      notebook.cell += 1
      const cell = { type: 'cell' as const, cell: notebook.cell, source: 'print("mine")' }
      notebook.step += 1
      await notebook.send(notebook.step, cell, 3)
      await expect(notebook.send(notebook.step, cell, 2)).rejects.toMatchObject({ code: 'SANDBOX_FENCED' })
    })
  })

  describe('life', () => {
    it('ends with a typed answer when the sandbox dies', async () => {
      const doomed = await new TestNotebook(backend).open()
      expect((await doomed.run('import os\nos._exit(7)')).final).toMatchObject({ type: 'lost', cause: 'gone' })
      await doomed.close()
    })

    it('is over after close: nothing is found again', async () => {
      const closed = await new TestNotebook(backend).open()
      await closed.close()
      await closed.close()
      expect((await closed.run('1')).final).toMatchObject({ type: 'lost', cause: 'gone' })
    })

    iff(survivesItsMaker)('outlives the worker that made it, in the middle of a cell', async () => {
      const mine = await new TestNotebook(makeBackend()).open()
      const source = 'import uuid, time\ntoken = uuid.uuid4().hex\nprint(token)\nr = await get(1)\nprint(r, token)'
      const begun = await mine.advance({ type: 'cell', cell: 1, source })
      await mine.host.shutdown()
      const other = makeBackend()
      const heir = new TestNotebook(other, {}, mine.session)
      const call = begun.type === 'suspended' ? begun.calls[0] : undefined
      expect(call).toBeDefined()
      const again = await heir.send(1, { type: 'cell', cell: 1, source }, 2)
      expect(again).toEqual(begun)
      const end = await heir.send(2, {
        type: 'results',
        results: [{ index: 1, outcome: { status: 'ok', value: 'r' } }],
      })
      const token = begun.type === 'suspended' ? begun.output.trim() : ''
      expect(end).toMatchObject({ type: 'completed', output: `r ${token}\n` })
      await heir.close()
      await other.close()
    })

    iff(hasProcesses)('lets code use threads and child processes', async () => {
      const source = [
        'import subprocess, time',
        'print(subprocess.run(["echo", "child"], capture_output=True, text=True).stdout)',
        'print(await asyncio.to_thread(lambda: time.sleep(0.05) or "thread"))',
        'p = await asyncio.create_subprocess_exec("echo", "async child", stdout=subprocess.PIPE)',
        'print((await p.communicate())[0])',
        'import os; os.system("echo by itself")',
      ].join('\n')
      expect((await notebook.run(source)).output).toBe("child\n\nthread\nb'async child\\n'\nby itself\n")
    })
  })
}
