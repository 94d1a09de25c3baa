import assert from 'node:assert/strict'
import { expectAnswer } from './expectations.js'
import { Notebook } from './notebook.js'
import type { CaseDefinition } from './scene.js'

/** Never fires: the deadlines are the backend's own. */
const never = new AbortController().signal

const token = 'import uuid\ntoken = uuid.uuid4().hex\nprint(token)'

/** Sandboxes: made once, found again, gone without a trace. */
export const lifeCases: readonly CaseDefinition[] = [
  {
    name: 'is usable here, and says what it is',
    async run({ backend }) {
      const { usable, summary, problems } = await backend.check()
      assert.equal(usable, true, JSON.stringify(problems))
      assert.match(summary, /^[^\n]+$/)
    },
  },
  {
    name: 'makes a sandbox once, however often it is opened',
    async run(scene) {
      const first = await scene.notebook()
      const { output } = await first.run(token)
      const second = await new Notebook(scene.backend, {}, first.session).open()
      ;[second.step, second.cell] = [first.step, first.cell]
      assert.equal((await second.run('print(token)')).output, output)
      ;[first.step, first.cell] = [second.step, second.cell]
    },
  },
  {
    name: 'makes another sandbox for another epoch of a session',
    async run(scene) {
      const first = await scene.notebook()
      await first.run('mine = 1')
      const second = await scene.fresh({}, { ...first.session, epoch: 2 })
      assert.equal((await second.run('print("mine" in globals())')).output, 'False\n')
      await second.close()
      assert.equal((await first.run('print(mine)')).output, '1\n')
    },
  },
  {
    name: 'finds no sandbox that nobody made, and removes it all the same',
    async run({ backend }) {
      const { spec } = new Notebook(backend)
      assert.equal(await backend.attach(spec, never), undefined)
      await backend.remove(spec)
    },
  },
  {
    name: 'makes none for an open that was cancelled before it began',
    async run({ backend }) {
      const { spec } = new Notebook(backend)
      await assert.rejects(backend.open(spec, AbortSignal.abort(new Error('cancelled'))), /cancelled/)
      assert.equal(await backend.attach(spec, never), undefined)
    },
  },
  {
    name: 'kills a sandbox, however often: it has ended, takes nothing, and is not found again',
    async run({ backend }) {
      const { spec } = new Notebook(backend)
      const connection = await backend.open(spec, never)
      await connection.kill()
      await connection.kill()
      assert.equal((await connection.ended).reason, 'exited')
      // Ends: nobody waits for ever for what a dead sandbox says.
      for await (const _ of connection.received);
      await assert.rejects(async () => {
        for (let attempt = 0; attempt < 1_000; attempt += 1) await connection.send(new Uint8Array(64 * 1024))
      })
      await connection.detach()
      assert.equal(await backend.attach(spec, never), undefined)
      await backend.remove(spec)
    },
  },
  {
    name: 'lets go of a sandbox, however often, and the connection has ended',
    async run({ backend }) {
      const { spec } = new Notebook(backend)
      const connection = await backend.open(spec, never)
      await connection.detach()
      await connection.detach()
      assert.equal((await connection.ended).reason, 'disconnected')
      await backend.remove(spec)
    },
  },
  {
    name: 'tells of a sandbox that dies, with a typed answer',
    async run(scene) {
      const { final } = await (await scene.fresh()).run('import os\nos._exit(7)')
      assert.equal(expectAnswer(final, 'lost').cause, 'gone')
    },
  },
  {
    name: 'finds nothing after close',
    async run(scene) {
      const notebook = await scene.fresh()
      await notebook.close()
      await notebook.close()
      assert.equal(expectAnswer((await notebook.run('1')).final, 'lost').cause, 'gone')
    },
  },
  {
    name: 'is closed twice without harm, and its sandboxes with it unless they outlive it',
    async run(scene) {
      const other = scene.another()
      await scene.keep(new Notebook(other)).open()
      await other.close()
      await other.close()
    },
  },
  {
    name: 'keeps a sandbox that loses its worker in the middle of a cell',
    needs: 'survivesItsMaker',
    async run(scene) {
      const mine = scene.keep(await new Notebook(scene.another()).open())
      const source = `${token}\nr = await get(1)\nprint(r, token)`
      const begun = expectAnswer(await mine.begin(source), 'suspended')
      await mine.host.shutdown()
      const heir = scene.keep(new Notebook(scene.another(), {}, mine.session))
      assert.deepEqual(await heir.send(1, { type: 'cell', cell: 1, source }, 2), begun)
      const results = [{ index: 1, outcome: { status: 'ok' as const, value: 'r' } }]
      const end = expectAnswer(await heir.send(2, { type: 'results', results }), 'completed')
      assert.equal(end.output, `r ${begun.output}`)
      await heir.close()
    },
  },
  {
    name: 'keeps a parked sandbox as it was, for the next worker',
    needs: 'keepsParked',
    async run(scene) {
      const mine = scene.keep(await new Notebook(scene.another()).open())
      const begun = expectAnswer(await mine.begin(`${token}\nr = await get(1)\nprint(r, token)`), 'suspended')
      assert.equal(await mine.host.park(mine.session, never), true)
      assert.equal(await mine.host.park(mine.session, never), true, 'parking is idempotent')
      const heir = scene.keep(new Notebook(scene.another(), {}, mine.session))
      const results = [{ index: 1, outcome: { status: 'ok' as const, value: 'r' } }]
      const end = expectAnswer(await heir.send(2, { type: 'results', results }), 'completed')
      assert.equal(end.output, `r ${begun.output}`)
      await heir.close()
    },
  },
  {
    name: 'removes a parked sandbox, and finds it no more',
    needs: 'keepsParked',
    async run(scene) {
      const notebook = await scene.fresh()
      assert.equal(await notebook.host.park(notebook.session, never), true)
      await notebook.close()
      assert.equal(await scene.backend.attach(notebook.spec, never), undefined)
      assert.equal(await notebook.host.park(notebook.session, never), false)
    },
  },
]
