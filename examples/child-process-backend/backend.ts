import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { BackendCheck, SandboxBackend, SandboxId, SandboxSpec } from 'durable-ptc/sandbox'
import { Connection } from './connection.js'
import { RunnerProcess } from './runner-process.js'

const run = promisify(execFile)

interface Sandbox {
  readonly runner: Promise<RunnerProcess>
  connection?: Connection
}

/**
 * Runs code in plain child processes. THIS IS NO BOUNDARY: the code can do whatever this process's user can. It shows
 * how small a backend may be, and is for code that you would run yourself.
 */
export class ChildProcessBackend implements SandboxBackend {
  readonly name = 'child-process'
  readonly #sandboxes = new Map<string, Sandbox>()

  async open(spec: SandboxSpec, signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted()
    const key = keyOf(spec)
    // Looked up and set without a pause between: two who open one sandbox at once get the same.
    const sandbox = this.#sandboxes.get(key) ?? { runner: RunnerProcess.start() }
    this.#sandboxes.set(key, sandbox)
    this.#forgetAtEnd(key, sandbox)
    return connect(sandbox)
  }

  async attach(id: SandboxId, signal: AbortSignal): Promise<Connection | undefined> {
    signal.throwIfAborted()
    const sandbox = this.#sandboxes.get(keyOf(id))
    return sandbox && (await sandbox.runner).alive ? connect(sandbox) : undefined
  }

  async remove(id: SandboxId): Promise<void> {
    const sandbox = this.#sandboxes.get(keyOf(id))
    this.#sandboxes.delete(keyOf(id))
    await end(sandbox)
  }

  async check(): Promise<BackendCheck> {
    try {
      const { stdout } = await run('python3', ['-P', '--version'])
      const message = 'child processes are no boundary'
      const remedy = 'Use them only for code that you would run yourself.'
      return { usable: true, summary: stdout.trim(), problems: [{ severity: 'warning', message, remedy }] }
    } catch {
      const problem = { severity: 'error', message: 'there is no Python 3.11', remedy: 'Install python3.' } as const
      return { usable: false, summary: 'no Python', problems: [problem] }
    }
  }

  #forgetAtEnd(key: string, sandbox: Sandbox): void {
    const forget = () => {
      if (this.#sandboxes.get(key) === sandbox) this.#sandboxes.delete(key)
    }
    sandbox.runner.then((runner) => runner.ended).then(forget, forget)
  }

  async close(): Promise<void> {
    const sandboxes = [...this.#sandboxes.values()]
    this.#sandboxes.clear()
    await Promise.all(sandboxes.map(end))
  }
}

/** The newest connection is the one that counts. */
async function connect(sandbox: Sandbox): Promise<Connection> {
  await sandbox.connection?.detach()
  return (sandbox.connection = new Connection(await sandbox.runner))
}

async function end(sandbox: Sandbox | undefined): Promise<void> {
  const runner = await sandbox?.runner
  runner?.kill()
  await runner?.ended
}

function keyOf({ namespace, session, epoch }: SandboxId): string {
  return JSON.stringify([namespace, session, epoch])
}
