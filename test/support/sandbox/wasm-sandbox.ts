import { mkdtempSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { SandboxConnection } from '../../../src/sandbox/backend.js'
import { readFrames } from './protocol-client.js'

/**
 * A runner for attacks. It executes each line of input (Python source as a JSON string) in one namespace, and replies
 * with a frame that has the value of the variable `answer`, or the exception. The jail must work with any runner.
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

/** Creates a folder with the attack runner. */
export function createAttackRunner(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'ptc-attack-'))
  writeFileSync(path.join(folder, 'runner.py'), attackRunner)
  return folder
}

export interface Reply {
  readonly answer?: unknown
  readonly error?: string
}

/** A client of the attack runner. */
export class AttackClient {
  readonly #connection: SandboxConnection
  readonly #frames: AsyncGenerator

  constructor(connection: SandboxConnection) {
    this.#connection = connection
    this.#frames = readFrames(connection)
  }

  /** Runs source and returns the reply; undefined when the sandbox ended instead. */
  async run(source: string): Promise<Reply | undefined> {
    await this.send(source)
    const next = await this.#frames.next()
    return next.done ? undefined : (next.value as Reply)
  }

  async send(source: string): Promise<void> {
    await this.#connection.send(Buffer.from(`${JSON.stringify(source)}\n`))
  }
}

/** Finds the processes with all of these texts in their command line. */
export async function findProcesses(...texts: readonly string[]): Promise<number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  const found: number[] = []
  for (const id of ids) {
    const command = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')
    if (texts.every((text) => command.includes(text))) found.push(Number(id))
  }
  return found
}

/** Finds the interpreters with this text in their command line that wait for input: in `read` of descriptor 0. */
export async function findIdleInterpreters(text: string): Promise<number[]> {
  const reads = new Set(['0', '63']) // the number of read() on x86-64 and on ARM
  const waits = await Promise.all(
    (await findProcesses(text)).map(async (id) => {
      const [call = '', descriptor] = (await readFile(`/proc/${id}/syscall`, 'utf8').catch(() => '')).split(' ')
      return reads.has(call) && descriptor === '0x0' ? [id] : []
    }),
  )
  return waits.flat()
}

/**
 * Kills a process, which may have exited together with another killed one.
 *
 * @param signal SIGKILL looks like the end of memory
 */
export function killIfRunning(id: number, signal: 'SIGABRT' | 'SIGKILL'): void {
  try {
    process.kill(id, signal)
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown
  }
}
