import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SandboxFile, sandboxFiles } from '../../sandbox-files.js'
import { type ConformanceContext, plantedSecret } from '../conformance-context.js'
import { expectResult } from '../expectations.js'
import type { SessionHarness } from '../session-harness.js'
import { type Behaviors, inSession, prints } from './behavior.js'

/** Never aborts, because the backend itself has deadlines. */
const neverAborted = new AbortController().signal

/** The life of a sandbox, as its code sees it. */
export const sandboxBehaviors = {
  'a sandbox that is opened again is the same one': {
    async check(context, [token = '', show = '']) {
      const first = await context.harness()
      const { output } = await first.runCell(token)
      const second = await context.createHarness(context.backend, first.session).open()
      ;[second.step, second.cell] = [first.step, first.cell]
      assert.equal((await second.runCell(show)).output, output)
      ;[first.step, first.cell] = [second.step, second.cell]
    },
  },
  'another epoch of a session has a new sandbox': {
    async check(context, [mine = '', isMine = '']) {
      const first = await context.harness()
      await first.runCell(mine)
      const second = await context.newHarness({}, { ...first.session, epoch: 2 })
      assert.equal((await second.runCell(isMine)).output, 'false\n')
      await second.close()
      assert.equal((await first.runCell(isMine)).output, 'true\n')
    },
  },
  'code that ends its process loses its step': inSession(
    async (harness, [source = '']) => {
      // `exited` of a backend that knows the exit code of a process.
      assert.match(expectResult((await harness.runCell(source)).finalResult, 'lost').cause, /^(exited|gone)$/)
    },
    { isFresh: true },
  ),
  'a removed sandbox is gone': inSession(
    async (harness, [source = '']) => {
      await harness.close()
      await harness.close()
      assert.equal(expectResult((await harness.runCell(source)).finalResult, 'lost').cause, 'gone')
    },
    { isFresh: true },
  ),
  'the next worker continues in the middle of a cell': {
    requires: 'supportsReattach',
    async check(context, [source = '']) {
      const previousOwner = context.closeAfterCase(await context.createHarness(context.newBackend()).open())
      const begun = expectResult(await previousOwner.startCell(source), 'suspended')
      await previousOwner.host.shutdown()
      const newOwner = context.closeAfterCase(context.createHarness(context.newBackend(), previousOwner.session))
      assert.deepEqual(await newOwner.sendStep(1, { type: 'cell', cell: 1, source }, 2), begun)
      await finishCell(newOwner, begun)
    },
  },
  'a checkpoint keeps the state for the next worker': {
    requires: 'supportsCheckpoint',
    async check(context, [source = '']) {
      const previousOwner = context.closeAfterCase(await context.createHarness(context.newBackend()).open())
      const begun = expectResult(await previousOwner.startCell(source), 'suspended')
      assert.equal(await previousOwner.host.park(previousOwner.session, neverAborted), true)
      assert.equal(await previousOwner.host.park(previousOwner.session, neverAborted), true, 'parking is idempotent')
      const newOwner = context.closeAfterCase(context.createHarness(context.newBackend(), previousOwner.session))
      await finishCell(newOwner, begun)
    },
  },
  'local work goes on while a call is open': {
    requires: 'supportsProcesses',
    async check(context, [source = '', last = '']) {
      const harness = await context.newHarness()
      let result = await harness.startCell(source)
      let output = ''
      // Only an event inside the sandbox can bring the output.
      while (result.type === 'suspended' && (output += result.output) === '') {
        assert.notEqual(result.wakeInMs, null, 'the program does not ask to be woken')
        harness.now += 1
        result = await harness.executeStep({ type: 'results', results: [] })
      }
      if ('output' in result && result.type !== 'suspended') output += result.output
      assert.match(output, /^local work\n/)
      const late = {
        type: 'results' as const,
        results: [{ index: 1, outcome: { status: 'ok' as const, value: 'late' } }],
      }
      if (result.type === 'suspended') {
        assert.equal(expectResult(await harness.executeStep(late), 'completed').output, 'late\n')
        return
      }
      expectResult(await harness.startCell(last), 'suspended')
      assert.equal(expectResult(await harness.executeStep(late), 'completed').output, 'late\n')
    },
  },
  'child processes print between the lines of code': prints('1\nchild\n2\n', { requires: 'supportsProcesses' }),
} satisfies Behaviors

/** Sends the result of the call that the cell waits for, and expects the token of its first step. */
async function finishCell(owner: SessionHarness, firstStep: { readonly output: string }): Promise<void> {
  const results = [{ index: 1, outcome: { status: 'ok' as const, value: 'r' } }]
  const end = expectResult(await owner.sendStep(2, { type: 'results', results }), 'completed')
  assert.equal(end.output, `r ${firstStep.output}`)
  await owner.close()
}

/** Runs code that may fail but must not reveal the secret. Returns its output. */
async function runGuarded(context: ConformanceContext, source: string): Promise<string> {
  const { output } = await (await context.harness()).runCell(source)
  assert.ok(!output.includes(plantedSecret.value), output)
  return output
}

/** Resources that code must not reach. These rows prove no isolation: an attacker has more ideas than a suite. */
export const isolationBehaviors = {
  'the environment of the worker is not there': {
    async check(context, [source = '']) {
      const output = await runGuarded(context, source)
      assert.ok(!output.includes(plantedSecret.name), output)
      assert.notEqual(output, '')
    },
  },
  'files of the host are not there': {
    requires: 'providesIsolation',
    async check(context, [source = '']) {
      const folder = await mkdtemp(join(tmpdir(), 'ptc-conformance-'))
      try {
        const file = join(folder, 'secret')
        await writeFile(file, plantedSecret.value)
        assert.match(await runGuarded(context, source.replace('PATH', JSON.stringify(file))), /^refused: \w+\n$/)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
  },
  'the network of the host is not there': {
    requires: 'providesIsolation',
    async check(context, [source = '']) {
      let connections = 0
      const server = createServer((socket) => {
        connections += 1
        socket.destroy()
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      try {
        const { port } = server.address() as AddressInfo
        assert.match(await runGuarded(context, source.replace('PORT', String(port))), /^refused: \w+\n$/)
        assert.equal(connections, 0)
      } finally {
        server.close()
      }
    },
  },
  'each sandbox has a /tmp of its own': {
    requires: 'providesIsolation',
    async check(context, [write = '', exists = '']) {
      await (await context.harness()).runCell(write)
      assert.equal((await (await context.newHarness()).runCell(exists)).output, 'false\n')
    },
  },
  'the size of /tmp is limited': {
    requires: 'providesIsolation',
    async check(context, [source = '']) {
      const harness = await context.harness()
      const { output } = await harness.runCell(source)
      assert.ok(Number(output) > 0 && Number(output) <= harness.limits.tmpBytes, `${output} bytes written`)
    },
  },
  'a cell that takes four times the memory limit does not get it, and other sandboxes go on': {
    requires: 'providesIsolation',
    async check(context, [greedy = '', other = '']) {
      const harness = await context.newHarness()
      const source = greedy.replace('BYTES', String(4 * harness.limits.memoryBytes))
      assert.notEqual((await harness.runCell(source)).finalResult.type, 'completed')
      assert.equal((await (await context.harness()).runCell(other)).output, 'fine\n')
    },
  },
} satisfies Behaviors

const text = (path: string, content: string, isExecutable = false): SandboxFile => ({
  path,
  content: Buffer.from(content),
  isExecutable,
})

const binary = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256))

const files = sandboxFiles([
  text('greet/scripts/greet.sh', 'echo hello\n', true),
  text('greet/Ünïcode name.txt', 'zażółć\n'),
  text('greet/empty.txt', ''),
  { path: 'data/deep/er/table.bin', content: binary, isExecutable: false },
  text(`data/${'long-'.repeat(15)}/${'name-'.repeat(15)}/x.txt`, 'found'),
])

/** Read-only files of a sandbox, for skills. */
export const fileBehaviors = {
  'files have their bytes and modes': {
    requires: 'supportsFiles',
    async check(context, [source = '']) {
      const { output } = await (await context.newHarness({}, undefined, files)).runCell(source)
      assert.equal(output, '555 444 zażółć\n0\n70000 true\nfound\n')
    },
  },
  'files can not be changed, and no file can be added': {
    requires: 'supportsFiles',
    async check(context, cells) {
      const harness = await context.newHarness({}, undefined, files)
      assert.ok(cells.length > 5)
      for (const cell of cells) assert.equal((await harness.runCell(cell)).output, 'refused\n', cell)
    },
  },
  'a rebuilt sandbox has the same files, and another session has none': {
    requires: 'supportsFiles',
    async check(context, [exists = '']) {
      const first = await context.newHarness({}, undefined, files)
      const next = { ...first.session, epoch: first.session.epoch + 1 }
      const second = await context.newHarness({}, next, files)
      for (const harness of [first, second]) assert.equal((await harness.runCell(exists)).output, 'true\n')
      assert.equal((await (await context.newHarness()).runCell(exists)).output, 'false\n')
    },
  },
} satisfies Behaviors
