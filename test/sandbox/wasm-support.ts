import { mkdtempSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { defaultLimits } from '../../src/common/limits.js'
import type { Limits } from '../../src/common/limits.js'
import type { SandboxConnection, SandboxSpec } from '../../src/sandbox/backend.js'
import { FrameDecoder, parseFrame } from '../../src/sandbox/protocol/frames.js'

/**
 * A runner for attacks: every line of input is Python source as a JSON string, run in one namespace; the answer is a
 * frame with what it left in `answer`, or the exception. The jail must hold whatever the runner is.
 */
const attackRunner = `
import json, os
space = {}
buffer = b''
while True:
    while b'\\n' not in buffer:
        piece = os.read(0, 65536)
        if not piece:
            raise SystemExit
        buffer += piece
    line, _, buffer = buffer.partition(b'\\n')
    space['answer'] = None
    try:
        exec(json.loads(line), space)
        reply = {'answer': space['answer'] if isinstance(space['answer'], (int, float, type(None))) else str(space['answer'])}
    except BaseException as error:
        reply = {'error': type(error).__name__ + ': ' + str(error)[:2000]}
    body = json.dumps(reply).encode()
    data = len(body).to_bytes(4, 'big') + body
    while data:
        data = data[os.write(1, data):]
`

/** The folder of the attack runner. */
export function attackRunnerFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'ptc-attack-'))
  writeFileSync(path.join(folder, 'runner.py'), attackRunner)
  return folder
}

export function specOf(session: string, limits: Partial<Limits> = {}): SandboxSpec {
  return {
    namespace: 'test',
    session,
    epoch: 1,
    workflowId: session,
    runId: 'run',
    limits: { ...defaultLimits, ...limits },
  }
}

export interface Reply {
  readonly answer?: unknown
  readonly error?: string
}

/** Sends source to the attack runner and reads one reply; undefined when the sandbox ended instead. */
export class Attacker {
  readonly #connection: SandboxConnection
  readonly #frames: AsyncGenerator

  constructor(connection: SandboxConnection) {
    this.#connection = connection
    this.#frames = framesOf(connection)
  }

  async run(source: string): Promise<Reply | undefined> {
    await this.send(source)
    const next = await this.#frames.next()
    return next.done ? undefined : (next.value as Reply)
  }

  async send(source: string): Promise<void> {
    await this.#connection.send(Buffer.from(`${JSON.stringify(source)}\n`))
  }
}

export async function* framesOf(connection: SandboxConnection, resume = false): AsyncGenerator {
  const decoder = new FrameDecoder(defaultLimits.frameBytes, { resume })
  for await (const chunk of connection.received) yield* decoder.push(chunk).map(parseFrame)
}

/** Process ids whose command line has all of these in it. */
export async function processesWith(...texts: readonly string[]): Promise<number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  const found: number[] = []
  for (const id of ids) {
    const command = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')
    if (texts.every((text) => command.includes(text))) found.push(Number(id))
  }
  return found
}

/** Of these processes, the interpreters that wait for their first input: they sit in a read of descriptor 0. */
export async function readyInterpreters(text: string): Promise<number[]> {
  const reads = new Set(['0', '63']) // the number of read() on x86-64 and on ARM
  const waits = await Promise.all(
    (await processesWith(text)).map(async (id) => {
      const [call = '', descriptor] = (await readFile(`/proc/${id}/syscall`, 'utf8').catch(() => '')).split(' ')
      return reads.has(call) && descriptor === '0x0' ? [id] : []
    }),
  )
  return waits.flat()
}
