import { afterAll, beforeAll, expect, it } from 'vitest'
import { tool } from '../../../support/tools.js'
import {
  type AttackEnvironment,
  type AttackResult,
  maxMemoryGrowthBytes,
  type StartAttacks,
} from '../attack-environment.js'
import { repeatingRunner, runnerTakeover } from '../hostile-code.js'
import { RecordedCalls } from '../recorded-calls.js'

const calls = new RecordedCalls()

const tools = [calls.tool('echo'), tool('large', () => 'x'.repeat(300_000))]

/** Error codes of every ending except a regular one. */
const lostOutcome = { outcome: { status: 'lost' } }

/** A07, B01 to B14: a hostile program that takes over its runner. */
export function protocolRows(start: StartAttacks): void {
  let attackEnv: AttackEnvironment
  beforeAll(async () => {
    attackEnv = await start({ tools, limits: { callsPerCell: 50 } })
  })
  afterAll(() => attackEnv.close())

  /** Runs source with the helpers of hostile code. `cellSeconds` is short for programs that must be stopped. */
  const attack = (source: string, cellSeconds = 60): Promise<AttackResult> => {
    calls.clear()
    return attackEnv.attack(runnerTakeover + source, { cellSeconds })
  }

  it('A07 results that the runner does not read are not kept without limit', async () => {
    const source = `
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
say(type="suspended", calls=[call(1 + n, "large") for n in range(10)], wake_in=None, output="")
time.sleep(1e6)
`
    const { outcome, memoryGrowthBytes, milliseconds } = await attack(source, 2)
    expect(outcome).toMatchObject({ status: 'timed_out' })
    expect(milliseconds).toBeLessThan(90_000)
    expect(memoryGrowthBytes).toBeLessThan(maxMemoryGrowthBytes)
  })

  it('B01 a printed frame is output, not a message', async () => {
    const frame =
      '{"type":"suspended","step":1,"calls":[{"call":1,"tool":"echo","arguments":{}}],"wake_in":null,"output":""}'
    const source = `
import os, sys
frame = ${JSON.stringify(frame)}.encode()
frame = len(frame).to_bytes(4, "big") + frame
os.write(1, frame); os.write(2, frame); print(frame.decode("latin-1")); print(frame.decode("latin-1"), file=sys.stderr)
`
    const { outcome } = await attack(source)
    expect(outcome.status).toBe('ok')
    expect(outcome.output.split('"type":"suspended"')).toHaveLength(5)
    expect(calls.executed).toEqual([])
  })

  it.each([
    ['a tool result', 'say(type="resume", results=[{"call": 1, "outcome": {"status": "ok", "value": "forged"}}])'],
    ['a hello message of the host', 'say(type="hello", tools=[])'],
    ['a message without a type', 'runner.channel.send({"step": step})'],
    ['a message that is no object', 'runner.channel.send([1, 2])'],
    ['an unknown field', 'say(type="completed", output="", admin=True)'],
    ['a ready message of another session', 'say(type="ready", protocol=1, session="another", language="Python")'],
    [
      'a ready message of another protocol version',
      'say(type="ready", protocol=99, session=runner.protocol.session_id, language="Python")',
    ],
  ])('B03 %s from the sandbox ends the session', async (_what, source) => {
    const { outcome, history } = await attack(`${source}\ntime.sleep(1e6)`)
    expect({ outcome }).toMatchObject(lostOutcome)
    expect(history).not.toContain('forged"')
  })

  it('B04 a forged end of the cell counts once, and later messages are discarded', async () => {
    const { outcome } = await attack(`
say(type="completed", output="forged end")
say(type="completed", output="another end")
say(type="suspended", calls=[call(1, "echo", after="the end")], wake_in=None, output="")
time.sleep(1)
`)
    expect(outcome).toMatchObject({ status: 'ok', output: 'forged end' })
    expect(calls.executed).toEqual([])
  })

  it('B06 a reply to another step, or a repeated call number, has no effect', async () => {
    const other = await attack(`
for number in (0, step - 1, step + 1, step + 1_000, 2**53 - 1):
    runner.channel.send({"type": "suspended", "step": number, "calls": [call(1, "echo")], "wake_in": None, "output": ""})
print("went on")
`)
    expect(other.outcome).toMatchObject({ status: 'ok', output: 'went on\n' })
    const twice = await attack('suspend(call(7, "echo"))\nsuspend(call(7, "echo"))')
    expect({ outcome: twice.outcome }).toMatchObject(lostOutcome)
    expect(calls.executed).toHaveLength(1)
    const same = await attack('suspend(call(7, "echo"), call(7, "echo"))')
    expect({ outcome: same.outcome }).toMatchObject(lostOutcome)
    expect(calls.executed).toEqual([])
  })

  it('B06 a sandbox that claims to belong to a newer worker loses its cell, not its run', async () => {
    const { outcome } = await attack(
      'say(type="refused", fence=runner.protocol.fence, kind="fenced", reason="")\ntime.sleep(9)',
    )
    const error = 'the sandbox reported a newer worker where none can exist'
    expect({ outcome }).toMatchObject({ outcome: { status: 'lost', error } })
  })

  it('B07 names of Object.prototype are not tools, and pollute no prototype', async () => {
    const { outcome } = await attack(`
names = ("__proto__", "constructor", "toString", "hasOwnProperty", "session.open", "model.turn", "run.config", "")
for number, name in enumerate(names[:-1], 1): print(suspend(call(number, name))[0][0])
print(suspend({"call": 99, "tool": "echo", "arguments": {"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 2}}, "toString": 3}})[0][0])
`)
    expect(outcome).toMatchObject({ status: 'ok', output: `${'denied\n'.repeat(7)}ok\n` })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(Object.prototype).not.toHaveProperty('polluted')
    expect(calls.executed).toHaveLength(1)
    const [{ input } = { input: {} }] = calls.executed
    expect(Object.getPrototypeOf(input)).toBe(Object.prototype)
  })

  it.each([100, 1_000, 2_000, 4_000, 10_000, 1_000_000])(
    'B08 arguments nested %i deep are executed or refused with a typed error',
    async (depth) => {
      const { outcome, memoryGrowthBytes } = await attack(`
body = b'{"type":"suspended","step":%d,"calls":[{"call":1,"tool":"echo","arguments":{"a":' % step + b"[" * ${depth} + b"]" * ${depth} + b'}}],"wake_in":null,"output":""}'
raw(len(body).to_bytes(4, "big") + body) if len(body) < 60_000 else runner.channel.__class__.send
view = memoryview(len(body).to_bytes(4, "big") + body)
if len(body) >= 60_000:
    while view: view = view[raw(view):]
frame = runner.channel.receive()
take(frame)
print(frame["results"][0]["outcome"]["status"])
`)
      if (outcome.status === 'ok') expect(outcome.output).toMatch(/^(ok|denied|invalid_arguments|tool_error)\n$/)
      else expect({ outcome }).toMatchObject(lostOutcome)
      expect(memoryGrowthBytes).toBeLessThan(maxMemoryGrowthBytes)
    },
  )

  it.each([
    ['NaN', '{"type":"suspended","step":1,"calls":[],"wake_in":NaN,"output":""}'],
    ['a number out of range', '{"type":"suspended","step":1,"calls":[],"wake_in":1e999,"output":""}'],
    [
      'a call numbered 2^53+1',
      '{"type":"suspended","step":1,"calls":[{"call":9007199254740993,"tool":"echo","arguments":{}}],"wake_in":null,"output":""}',
    ],
    [
      'a call numbered 0',
      '{"type":"suspended","step":1,"calls":[{"call":0,"tool":"echo","arguments":{}}],"wake_in":null,"output":""}',
    ],
    [
      'a list as arguments',
      '{"type":"suspended","step":1,"calls":[{"call":1,"tool":"echo","arguments":[]}],"wake_in":null,"output":""}',
    ],
    ['bytes that are not UTF-8', '{"type":"completed","step":1,"output":"\\xff"}'],
    ['truncated JSON', '{"type":"completed"'],
    ['nothing', ''],
  ])('B08 %s is not accepted as a message', async (_what, body) => {
    const { outcome } = await attack(`
body = ${JSON.stringify(body)}.encode().replace(b"\\\\xff", b"\\xff")
raw(len(body).to_bytes(4, "big") + body)
time.sleep(1e6)
`)
    expect({ outcome }).toMatchObject(lostOutcome)
    expect(calls.executed).toEqual([])
  })

  it('B08 lone surrogates and duplicate keys are accepted', async () => {
    const body =
      '{"type":"suspended","step":1,"calls":[{"call":1,"tool":"echo","arguments":{"a":1,"a":"\\ud800"}}],"wake_in":null,"output":"\\udfff"}'
    const { outcome } = await attack(`
body = ${JSON.stringify(body)}.encode()
raw(len(body).to_bytes(4, "big") + body)
frame = runner.channel.receive()
take(frame)
print(frame["results"][0]["outcome"]["status"])
`)
    expect(outcome).toMatchObject({ status: 'ok', output: expect.stringContaining('ok\n') })
    expect(calls.executed).toEqual([{ name: 'echo', input: { a: '\uD800' } }])
  })

  it.each([
    ['output of 3 MB', 'runner.output.take = lambda note="": {"output": "x" * 3_000_000}', 'ok'],
    [
      'a suspension with output of 3 MB',
      'runner.output.take = lambda note="": {"output": "x" * 3_000_000}\nawait echo()',
      'ok',
    ],
    ['an error of 3 MB', 'raise CellStop("code_error", "x" * 3_000_000)', 'code_error'],
    ['3 MB of arguments', 'suspend(*(call(1 + n, "echo", text="x" * 200_000) for n in range(15)))', 'ok'],
    ['one argument of 3 MB', 'suspend(call(1, "echo", text="x" * 3_000_000))', 'ok'],
    ['10,000 calls of unknown tools', 'suspend(*(call(1 + n, "nobody" * 8) for n in range(10_000)))', 'lost'],
    ['20 pieces of output of 3 MB', 'for _ in range(20): say(type="output", text="x" * 3_000_000)', 'ok'],
  ])('B08 %s, repeated in every step, is stored externally, truncated or rejected', async (_what, source, status) => {
    const { outcome, history, memoryGrowthBytes } = await attack(repeatingRunner + source)
    expect(outcome.status, JSON.stringify(outcome).slice(0, 300)).toBe(status)
    expect(JSON.stringify(outcome).length).toBeLessThan(100_000)
    expect(history.length).toBeLessThan(500_000)
    expect(memoryGrowthBytes).toBeLessThan(2 * maxMemoryGrowthBytes)
  })

  it('B09 endless calls stop at the limit, even when the code catches every exception', async () => {
    const polite = await attack('while True:\n    try: await echo(n=1)\n    except BaseException: pass', 10)
    expect(['limit_exceeded', 'timed_out']).toContain(polite.outcome.status)
    expect(calls.executed.length).toBeLessThanOrEqual(50)
    expect(polite.events).toBeLessThan(2_000)
    // The runner's count is only an early check. The workflow's count enforces the limit.
    const forged = await attack('for n in range(1, 100_000): suspend(call(n, "echo"))')
    expect(forged.outcome).toMatchObject({
      status: 'limit_exceeded',
      error: expect.stringMatching(/^more than 50 tool/),
    })
    expect(calls.executed).toHaveLength(50)
  })

  it.each([
    ['half a header, then silence', 'raw(b"\\0\\0")', 'timed_out'],
    ['half a frame, then silence', 'raw(b"\\0\\0\\1\\0{")', 'timed_out'],
    ['a frame of 4 GiB', 'raw(b"\\0\\0\\0\\0\\xff\\xff\\xff\\xff{")', 'lost'],
    ['a frame over the limit', 'raw(b"\\0\\xff\\xff\\xff{")', 'lost'],
    ['an exit in the middle of a frame', 'raw(b"\\0\\0\\1\\0{")\nos._exit(0)', 'lost'],
  ])('B12 %s is neither awaited without limit nor kept in memory', async (_what, source, status) => {
    const attacking = `
import signal
${source}
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
time.sleep(1e6)
`
    const { outcome, memoryGrowthBytes } = await attack(attacking, status === 'timed_out' ? 2 : 60)
    expect(outcome.status).toBe(status)
    expect(memoryGrowthBytes).toBeLessThan(maxMemoryGrowthBytes)
  })

  it('B14 frames sent byte by byte take linear time and no stack', async () => {
    const { outcome, milliseconds } = await attack(`
import json
body = json.dumps({"type": "output", "step": step, "text": "x" * 5_000}).encode()
for _ in range(20):
    for byte in len(body).to_bytes(4, "big") + body: raw(bytes([byte]))
print("through")
`)
    expect(outcome).toMatchObject({ status: 'ok', output: 'through\n' })
    expect(milliseconds).toBeLessThan(60_000)
  })
}
