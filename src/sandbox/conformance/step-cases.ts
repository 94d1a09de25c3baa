import assert from 'node:assert/strict'
import type { CaseDefinition } from './scene.js'

/** Steps: what makes a worker that dies, or was believed dead, harmless. */
export const stepCases: readonly CaseDefinition[] = [
  {
    name: 'that are repeated get the same answer, and nothing runs twice',
    async run(scene) {
      const notebook = await scene.notebook()
      const source = 'count = globals().get("count", 0) + 1\nprint(count)'
      const first = await notebook.begin(source)
      const again = await notebook.send(notebook.step, { type: 'cell', cell: notebook.cell, source }, 2)
      assert.deepEqual(again, first)
      assert.equal((await notebook.run('print(count)')).output, '1\n')
    },
  },
  {
    name: 'from a stale worker are fenced off',
    async run(scene) {
      const notebook = await scene.notebook()
      notebook.cell += 1
      notebook.step += 1
      const cell = { type: 'cell' as const, cell: notebook.cell, source: 'print("mine")' }
      await notebook.send(notebook.step, cell, 3)
      await assert.rejects(notebook.send(notebook.step, cell, 2), { code: 'SANDBOX_FENCED' })
    },
  },
]
