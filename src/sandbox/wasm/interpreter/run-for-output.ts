import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { childEnvironment, type JailCommand } from '../jail/jail-command.js'

const timeoutMs = 60_000

interface EndedChild {
  readonly exitCode: number | null
  readonly stdout: Buffer
  readonly stderr: string
}

/** Runs a jailed child that does one task and ends. */
export async function runForOutput({ file, args }: JailCommand, signal: AbortSignal): Promise<EndedChild> {
  const child = spawn(file, args, {
    env: childEnvironment,
    cwd: '/',
    // The descriptors are those of an interpreter, without interrupts and status.
    stdio: ['ignore', 'pipe', 'pipe', 'ignore', 'ignore'],
    signal,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    windowsHide: true,
  })
  const ended = once(child, 'exit')
  const read = [child.stdout, child.stderr].map((stream) => (stream ? buffer(stream) : Buffer.alloc(0)))
  const [stdout = Buffer.alloc(0), stderr = Buffer.alloc(0)] = await Promise.all([...read, ended.then(() => undefined)])
  const [exitCode] = (await ended) as [number | null]
  return { exitCode, stdout, stderr: stderr.toString() }
}
