import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import {
  type HostileFamily,
  hostileFamilies,
  hostilePython,
  largeMessages,
  stringFamilies,
  maxUnitsOf,
} from '../../support/faults/hostile-frames.js'
import { Random } from '../../support/random.js'
import { storedFiles } from '../../support/environment/stored-files.js'
import { tool } from '../../support/tools.js'
import type { TestEnvironmentOptions } from '../../support/environment/test-environment.js'
import { TestSession } from '../../support/environment/test-session.js'
import { AttackEnvironment, maxMemoryGrowthBytes } from './attack-environment.js'
import {
  expectUnaffected,
  BystanderRun,
  maxStallMs,
  shortHeartbeats,
  disableHeartbeatThread,
  unaffected,
} from './bystander-run.js'
import { runnerTakeover } from './hostile-code.js'
import { readableText } from './readable-text.js'

const frameSender = `${runnerTakeover}
def framed(body): return len(body).to_bytes(4, "big") + body
def frame(args, number, index=1):
    return framed(b'{"type":"suspended","step":%d,"calls":[{"call":%d,"tool":"echo","arguments":{"a":' % (number, index) + args + b'}}],"wake_in":null,"output":""}')
messages = ${JSON.stringify(largeMessages)}
def message(type, value, number): return framed(messages[type].encode() % (number, value))
def send(data):
    view = memoryview(data)
    while view: view = view[raw(view):]
def ask(args, index):
    send(frame(args, step, index))
    answer = runner.channel.receive()
    take(answer)
    print(answer["results"][0]["outcome"]["status"])
`

const largestValue = (family: HostileFamily): string => hostilePython(family, maxUnitsOf(family))

/** Sends messages of this type of the largest size that the host reads, of the families that parse slowest. */
function sendLargest(type: keyof typeof largeMessages, step: string): string {
  const families = stringFamilies.filter(({ name }) =>
    (type === 'snapshot' ? /escapes$/ : /escapes$|combining$/).test(name),
  )
  return families.map((family) => `send(message("${type}", ${largestValue(family)}, ${step}))\n`).join('')
}

disableHeartbeatThread()

/** The tests of frames that a hostile program sends, in one kind of sandbox. */
export function describeHostileFrames(options: Pick<TestEnvironmentOptions, 'backend' | 'runtime'>): void {
  let attackEnv: AttackEnvironment
  const bystanders = new BystanderRun()
  let called = 0
  const echo = tool('echo', () => {
    called += 1
    return 'echoed'
  })
  beforeEach(() => void (called = 0))
  beforeAll(async () => {
    attackEnv = await AttackEnvironment.start({
      ...options,
      tools: [...bystanders.tools, echo],
      timeouts: shortHeartbeats,
    })
  })
  afterAll(() => attackEnv.close())

  // The cost of reading a frame does not depend on the runtime; gVisor, which carries the bytes, gets a selection.
  const families = hostileFamilies.filter(
    ({ name }) => options.runtime === undefined || /shape each|deep: objects|like numbers|escapes/.test(name),
  )
  const attack = (source: string) => attackEnv.attack(frameSender + source, { cellSeconds: 120 })

  /** Runs `work` at the same time as a run that must not be affected. */
  const beside = async <Given>(work: () => Promise<Given>): Promise<Given> => {
    const seen = await bystanders.runDuring(attackEnv.env, work)
    expectUnaffected(seen)
    return seen.workResult
  }

  /** Runs an attack at the same time as a run that must not be affected; returns the outcome of the attack. */
  const attackBeside = async (source: string) => {
    const { outcome, memoryGrowthBytes } = await beside(() => attack(source))
    expect(memoryGrowthBytes).toBeLessThan(maxMemoryGrowthBytes)
    return outcome
  }

  it('C1 the largest frames of every family, for a step without a waiting call, delay no other run', async () => {
    const sent = families.map((family) => `send(frame(${largestValue(family)}, step + 1_000))`)
    const outcome = await attackBeside(`${sent.join('\n')}\nprint("sent")`)
    expect(outcome).toMatchObject({ status: 'ok', output: 'sent\n' })
  })

  it('C1 calls with arguments of every family are executed or refused, and delay no other run', async () => {
    const made = families.map((family, place) => `ask(${largestValue(family)}, ${place + 1})`)
    const outcome = await attackBeside(made.join('\n'))
    expect(outcome).toMatchObject({ status: 'ok' })
    expect(outcome.output).toMatch(/^((ok|invalid_arguments)\n)+$/)
    expect(outcome.output.trim().split('\n')).toHaveLength(families.length)
  })

  it('H1 a runner that claims to belong to a newer worker loses its cell after a limited number of rebuilds', async () => {
    const { outcome, history } = await attack(
      'say(type="refused", fence=runner.protocol.fence, kind="fenced", reason="ignore all instructions")\ntime.sleep(1e6)',
    )
    expect(outcome).toMatchObject({
      status: 'lost',
      output: '',
      error: 'the sandbox reported a newer worker where none can exist',
    })
    expect(history.split('open a session')).toHaveLength(2)
    expect(history).not.toContain('rebuild the session')
  })

  it('M1 an unknown field name of 3 MB is not part of the error message', async () => {
    const { outcome, history } = await attack(
      'say(type="completed", output="", **{"ignore all " * 250_000: 1})\ntime.sleep(1e6)',
    )
    expect(outcome).toMatchObject({
      status: 'lost',
      output: '',
      error: 'the sandbox broke the protocol: it sent an unknown or malformed message',
    })
    expect(history).not.toContain('ignore all ignore all')
  })

  it('M1 a reason given by the runner is truncated, on one line, without control characters', async () => {
    const { outcome } = await attack(
      'say(type="refused", fence=runner.protocol.fence, kind="invalid", reason="\\x1b]0;title\\x07\\u202e\\n" + "x" * 900)\ntime.sleep(1e6)',
    )
    expect(outcome).toMatchObject({
      status: 'lost',
      error: expect.stringMatching(/^the sandbox refused step 1: \]0;title +x+…$/),
    })
    expect(JSON.stringify(outcome).length).toBeLessThan(400)
  })

  it.each([
    ['negative', '{"run_ms": -1}'],
    ['not a number', '{"run_ms": "1" * 100}'],
    ['larger than exact integers', '{"run_ms": 10 ** 30}'],
    ['of an unknown kind', '{"run_ms": 1, "gpu_ms": 1}'],
  ])('M3 the use of a cell that is %s ends the cell', async (_what, usage) => {
    const { outcome } = await attack(`say(type="completed", output="", usage=${usage})\ntime.sleep(1e6)`)
    expect(outcome).toMatchObject({ status: 'lost', error: expect.stringContaining('broke the protocol') })
    expect(outcome).not.toHaveProperty('usage')
  })

  it('M3 the largest use of a cell, and ranges of stderr beyond its output, reach only their readers', async () => {
    const usage = '{"run_ms": 2**53 - 1, "cpu_ms": 2**53 - 1, "peak_memory_bytes": 2**53 - 1}'
    const { outcome } = await attack(
      `say(type="completed", output="abc", usage=${usage}, exit_code=255, stderr=[[0, 2**53 - 1]])\ntime.sleep(1e6)`,
    )
    const most = Number.MAX_SAFE_INTEGER
    const forged = { runMs: most, cpuMs: most, peakMemoryBytes: most }
    expect(outcome).toMatchObject({ status: 'ok', output: 'abc', exitCode: 255, usage: forged })
    expect(outcome).not.toHaveProperty('stderr')
  })

  it('L3 a call number far from the previous one is refused', async () => {
    const { outcome } = await attack('suspend(call(2**53 - 1, "echo"))')
    expect(outcome).toMatchObject({ status: 'lost', error: 'the sandbox reported a call with an invalid index' })
  })

  it('L3 a session with forged call numbers continues without variables, and can make calls again', async () => {
    const session = TestSession.create(attackEnv.env)
    expect(await session.outputOf(`${runnerTakeover}suspend(call(50_000, "echo"))\nprint("forged")`)).toBe('forged\n')
    const { outcome } = await session.execute('print(await echo())')
    expect(outcome).toMatchObject({ status: 'lost', error: 'the sandbox reported a call with an invalid index' })
    expect(await session.outputOf('print(await echo(), "runner" in globals())')).toBe('echoed False\n')
    await session.close()
  })

  // The other cases do not depend on the runtime.
  if (options.runtime !== undefined) return

  it('C1 messages of every other type, as a flood of small ones or of the largest size, delay no other run', async () => {
    const others = (['failed', 'completed', 'snapshot'] as const).map((type) => sendLargest(type, 'step + 1_000'))
    const outcome = await attackBeside(`
small = message("output", b'"x"', step) * 1_000
for _ in range(30): send(small)
${sendLargest('output', 'step')}${others.join('')}${sendLargest('completed', 'step')}
time.sleep(1e6)`)
    expect(outcome).toMatchObject({ status: 'ok', output: expect.stringContaining('characters cut') })
  })

  it.each([1, 2])('C1 fuzzed frames of the full size, in a loop, delay no other run (seed %i)', async (seed) => {
    const random = new Random(seed)
    const sent = Array.from({ length: 8 }, () => {
      const family = random.oneOf(hostileFamilies)
      const value = hostilePython(family, maxUnitsOf(family, (1 + random.below(100)) / 100))
      return `data = frame(${value}, step + ${random.below(2) === 0 ? 1 : 1_000})\nfor _ in range(${1 + random.below(3)}): send(data)`
    })
    const outcome = await attackBeside(`${sent.join('\n')}\nprint("sent")`)
    expect(outcome).toMatchObject({ status: 'ok', output: 'sent\n' })
  })

  it.each([
    ['has more values than a valid one', 'frame(b"[" + b"[]," * 500_000 + b"0]", step)'],
    ['is larger than a valid one', 'frame(b\'"\' + b"x" * 9_000_000 + b\'"\', step)'],
    ['is nested deeper than a valid one', 'frame(b"[" * 6_000 + b"]" * 6_000, step)'],
  ])('C1 a frame that %s ends the session before it is parsed', async (_what, data) => {
    const outcome = await attackBeside(`send(${data})\ntime.sleep(1e6)`)
    expect(outcome).toMatchObject({
      status: 'lost',
      error: expect.stringMatching(/^the sandbox (sent|announced) a frame/),
    })
  })

  it.runIf(options.backend === 'docker')(
    'C1 a snapshot in messages of the largest size delays no other run',
    async () => {
      const session = await TestSession.start({
        ...options,
        tools: bystanders.tools,
        timeouts: shortHeartbeats,
        snapshots: { steps: 1 },
      })
      const largeSnapshot = `
import json
class SnapshotProtocol:
    def send_snapshot(self, session, frame, idle):
        text = b'"' + b"A" * 3_400_000 + b'"'
        for piece in range(10):
            body = messages["snapshot"].encode() % (frame["step"], text)
            body = body.replace(b"[1,1,1]", json.dumps(frame["fence"]).encode()).replace(b'"piece":0', b'"piece":%d' % piece)
            send(framed(body.replace(b"true", b"true" if piece == 9 else b"false")))
type(runner.protocol)._snapshot_protocol = lambda self: SnapshotProtocol()`
      const seen = await bystanders.runDuring(session.env, async () => {
        await session.outputOf(frameSender + largeSnapshot)
        await expect
          .poll(async () => readableText((await session.env.history(session.handle)).events))
          .toContain('"stored"')
      })
      expectUnaffected(seen)
      await session.close()
    },
  )

  it('M6 the bytes that a run stores in the value store are limited', async () => {
    const source =
      'for n in range(100): suspend(*(call(1 + n * 4 + each, "echo", text=f"{n} {each} " * 30_000) for each in range(4)))'
    const before = storedFiles(attackEnv.env).bytes
    const { outcome } = await attackEnv.attack(runnerTakeover + source, { cellSeconds: 60, storedBytes: 5_000_000 })
    expect(outcome).toMatchObject({
      status: 'limit_exceeded',
      error: expect.stringMatching(/^arguments, results and output of this session have used up their 5000000 bytes/),
    })
    // Ten suspensions of 480,044 bytes. The eleventh, of 600,044, exceeds the limit, and none of its calls starts.
    expect(called).toBe(40)
    const stored = storedFiles(attackEnv.env).bytes - before
    expect(stored).toBeGreaterThanOrEqual(10 * 480_044 + 600_044)
    expect(stored).toBeLessThan(10 * 480_044 + 600_044 + 20_000)
  })

  it('M6 calls with more bytes than the limit of a step are not stored', async () => {
    const before = storedFiles(attackEnv.env).bytes
    const { outcome } = await attackEnv.attack(
      `${runnerTakeover}suspend(*(call(1 + n, "echo", text=f"{n} " * (20_000 if n < 10 else 700)) for n in range(900)))`,
      { cellSeconds: 60 },
    )
    expect(outcome).toMatchObject({
      status: 'lost',
      error: expect.stringMatching(/^the sandbox made calls of more than/),
    })
    expect(storedFiles(attackEnv.env).bytes - before).toBeLessThan(20_000)
    expect(called).toBe(0)
  })

  it('M6 a suspension that makes too many calls stores none of them', async () => {
    const before = storedFiles(attackEnv.env).files
    const { outcome } = await attackEnv.attack(
      `${runnerTakeover}suspend(*(call(1 + n, "echo", text=f"{n} " * 2_000) for n in range(200)))`,
      { cellSeconds: 60, callsPerCell: 100 },
    )
    expect(outcome).toMatchObject({
      status: 'limit_exceeded',
      error: expect.stringMatching(/^more than 100 tool calls/),
    })
    expect(storedFiles(attackEnv.env).files - before).toBeLessThan(10)
    expect(called).toBe(0)
  })

  it.runIf(options.backend === 'docker')('C1 a flood by a thread of an ended cell delays no other run', async () => {
    const session = TestSession.create(attackEnv.env)
    const flood = `
import threading, time
data = frame(b"[" + b"[]," * 100_000 + b"0]", step)
def flood():
    time.sleep(1)  # frames amid the answer of the cell would end the session
    while True: send(data)
threading.Thread(target=flood, daemon=True).start()`
    await session.outputOf(frameSender + flood)
    await beside(() => attackEnv.env.runProgram('import time\ntime.sleep(5)'))
    await session.close()
  })

  // Must be the last test of this file: the lost attempt may run again after its run has ended.
  it.runIf(options.backend === 'wasm')('the oracles detect a blocked event loop and the lost attempt', async () => {
    const { maxDelayMs, outcome, attempts } = await bystanders.runDuring(attackEnv.env, async () => {
      await Promise.resolve()
      for (const end = performance.now() + 6_000; performance.now() < end;);
    })
    expect(maxDelayMs).toBeGreaterThan(maxStallMs)
    expect({ outcome, attempts }).not.toMatchObject(unaffected)
  })
}
