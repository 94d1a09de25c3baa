import assert from 'node:assert/strict'
import { expectAnswer, expectError, expectNear } from './expectations.js'
import type { CaseDefinition } from './scene.js'

/** What becomes of cells that take too much. */
export const limitCases: readonly CaseDefinition[] = [
  {
    name: 'end after too many calls, even if they swallow it',
    async run(scene) {
      const notebook = await scene.fresh({ callsPerCell: 3 })
      const { final } = await notebook.run('while True:\n    try:\n        await get(1)\n    except Exception: pass')
      assert.equal(expectAnswer(final, 'failed').kind, 'limit_exceeded')
    },
  },
  {
    name: 'that do not stop by themselves are stopped at their time',
    async run(scene) {
      const notebook = await scene.fresh({ cellSeconds: 2 })
      await notebook.run('kept = 1')
      const { final } = await notebook.run('while True: pass')
      if (scene.stopsCode) {
        assert.equal(expectAnswer(final, 'failed').kind, 'timed_out')
        assert.equal((await notebook.run('print(kept)')).output, '1\n')
      } else {
        assert.equal(expectAnswer(final, 'lost').cause, 'killed_at_limit')
      }
    },
  },
  {
    name: 'that look at the clock till their time is up are told which one to look at',
    needs: 'stopsCode',
    async run(scene) {
      const notebook = await scene.fresh({ cellSeconds: 2 })
      const source = 'import time\nbegun = time.time()\nwhile time.time() - begun < 3600: sum(range(1000))'
      expectError((await notebook.run(source)).final, /\n\[hint\] time\.time\(\) stands still while code computes/)
      const { final } = await notebook.run('begun = time.time()\nwhile True: pass')
      assert.doesNotMatch(expectError(final, 'it may run 2 seconds'), /hint/)
    },
  },
  {
    name: 'that do not let themselves be stopped are killed',
    needs: 'stopsCode',
    async run(scene) {
      const notebook = await scene.fresh({ cellSeconds: 2 })
      const ignore = 'import signal\nfor s in (14, signal.SIGINT): signal.signal(s, signal.SIG_IGN)\n'
      const { final } = await notebook.run(`${ignore}while True: pass`)
      assert.equal(expectAnswer(final, 'lost').cause, 'killed_at_limit')
    },
  },
  {
    name: 'that are stopped while they wait keep the session, and none of their tasks',
    async run(scene) {
      const notebook = await scene.notebook()
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
      expectAnswer(await notebook.begin(source), 'suspended')
      const stop = { type: 'stop' as const, reason: 'it is late' }
      const stopped = await notebook.advance(stop)
      expectError(stopped, 'it is late')
      assert.equal(expectAnswer(stopped, 'failed').kind, 'timed_out')
      assert.deepEqual(await notebook.send(notebook.step, stop, 2), stopped)
      const next = await notebook.run('print(before, tidied, len(asyncio.all_tasks()))\nprint(await get(3))')
      assert.equal(next.output, "1 True 1\n{'a': 3}\n")
      assert.equal(next.calls.length, 1)
    },
  },
  {
    name: 'share out what is captured among their steps, and each may say something',
    async run(scene) {
      const notebook = await scene.fresh({ capturedCharacters: 4_000 })
      const { answers, output } = await notebook.run('for i in range(6):\n    print(f"{i}" * 3_000)\n    await get(i)')
      const [first = 0, ...others] = answers
        .slice(0, 6)
        .map((answer) => ('output' in answer ? answer.output.length : 0))
      assert.equal(first, 3_001)
      assert.equal(others.length, 5)
      for (const length of others) expectNear(length, 850, 50)
      assert.match(output, /^0{3000}\n1+\n\[\.\.\. \d+ characters cut \.\.\.\]\n1+\n/)
    },
  },
]
