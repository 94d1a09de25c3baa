import assert from 'node:assert/strict'
import { defaultLanguageName } from '../../common/names.js'
import { languageNamesOf } from '../../common/run/language-names.js'
import { packageKinds } from '../../common/run/sandbox-image.js'
import type { BackendCapabilities, CaseDefinition } from './conformance-context.js'

/** Never aborts, because the backend itself has deadlines. */
const neverAborted = new AbortController().signal

/** The life cycle of sandboxes in which no code runs. */
export const backendCases: readonly CaseDefinition[] = [
  {
    name: 'check: reports a usable backend and its version',
    async run({ backend }) {
      const { usable, summary, problems } = await backend.check()
      assert.equal(usable, true, JSON.stringify(problems))
      assert.match(summary, /^[^\n]+$/)
    },
  },
  {
    name: 'capabilities: are those that the suite tests',
    async run({ backend, language, capabilities }) {
      const has = {
        supportsFiles: backend.files === true,
        supportsNetwork: backend.network === true,
        supportsContents: backend.contentsOf !== undefined,
        supportsCheckpoint: (await backend.checkpoints?.isAvailable()) === true,
      } satisfies Partial<BackendCapabilities>
      for (const [name, isThere] of Object.entries(has)) {
        const isTested = capabilities[name as keyof typeof has] === true
        // Another language may lack what the sandbox has.
        const isWrong =
          languageNamesOf(language)[0] === defaultLanguageName ? isThere !== isTested : isTested && !isThere
        assert.ok(
          !isWrong,
          `${name} is ${isTested}, and the backend ${isThere ? 'has' : 'does not have'} the capability`,
        )
      }
    },
  },
  {
    name: 'contentsOf: names the languages and the programs, each time the same',
    requires: 'supportsContents',
    async run({ backend, language: all }) {
      const [language = ''] = languageNamesOf(all)
      const contents = await backend.contentsOf?.({ language }, neverAborted)
      assert.ok(contents)
      assert.ok(contents.languages.includes(language), contents.languages.join())
      for (const text of [...contents.programs, ...contents.languages]) assert.match(text, /^[^\n]{1,200}$/)
      for (const kind of packageKinds) {
        const { names, more } = contents.packages[kind]
        assert.ok(names.every((name) => /^[^\n]{1,200}$/.test(name)) && more >= 0, kind)
      }
      assert.deepEqual(await backend.contentsOf?.({ language }, neverAborted), contents)
    },
  },
  {
    name: 'attach, remove: handle a missing sandbox',
    async run(context) {
      const { backend } = context
      const { sandboxSpec } = context.createHarness()
      assert.equal(await backend.attach(sandboxSpec, neverAborted), undefined)
      await backend.remove(sandboxSpec)
    },
  },
  {
    name: 'open: creates no sandbox when it is cancelled before its start',
    async run(context) {
      const { backend } = context
      const { sandboxSpec } = context.createHarness()
      await assert.rejects(backend.open(sandboxSpec, AbortSignal.abort(new Error('cancelled'))), /cancelled/)
      assert.equal(await backend.attach(sandboxSpec, neverAborted), undefined)
    },
  },
  {
    name: 'kill: is idempotent, settles `ended`, and leaves no sandbox to attach to',
    async run(context) {
      const { backend } = context
      const { sandboxSpec } = context.createHarness()
      const connection = await backend.open(sandboxSpec, neverAborted)
      await connection.kill()
      await connection.kill()
      assert.equal((await connection.ended).reason, 'exited')
      // The stream of a dead sandbox ends.
      for await (const _ of connection.received);
      await assert.rejects(async () => {
        for (let attempt = 0; attempt < 1_000; attempt += 1) await connection.send(new Uint8Array(64 * 1024))
      })
      await connection.detach()
      assert.equal(await backend.attach(sandboxSpec, neverAborted), undefined)
      await backend.remove(sandboxSpec)
    },
  },
  {
    name: 'detach: is idempotent and settles `ended`',
    async run(context) {
      const { backend } = context
      const { sandboxSpec } = context.createHarness()
      const connection = await backend.open(sandboxSpec, neverAborted)
      await connection.detach()
      await connection.detach()
      assert.equal((await connection.ended).reason, 'disconnected')
      await backend.remove(sandboxSpec)
    },
  },
  {
    name: 'close: is idempotent, and removes sandboxes that can not outlive the process',
    async run(context) {
      const other = context.newBackend()
      await context.closeAfterCase(context.createHarness(other)).open()
      await other.close()
      await other.close()
    },
  },
  {
    name: 'remove: deletes a checkpoint',
    requires: 'supportsCheckpoint',
    async run(context) {
      const harness = await context.newHarness()
      assert.equal(await harness.host.park(harness.session, neverAborted), true)
      await harness.close()
      assert.equal(await context.backend.attach(harness.sandboxSpec, neverAborted), undefined)
      assert.equal(await harness.host.park(harness.session, neverAborted), false)
    },
  },
]
