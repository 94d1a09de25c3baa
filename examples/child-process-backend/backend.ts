import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { PtcError } from 'durable-ptc'
import type { BackendCheck, SandboxBackend, SandboxContents, SandboxId, SandboxSpec } from 'durable-ptc/sandbox'
import { Connection } from './connection.js'
import { RunnerProcess } from './runner-process.js'

const execFileAsync = promisify(execFile)

interface Sandbox {
  readonly runner: Promise<RunnerProcess>
  connection?: Connection
}

/**
 * Runs code in plain child processes. THIS IS NO ISOLATION: the code can do whatever the user of this process can do.
 * The backend is a small example, for code that you would run yourself.
 */
export class ChildProcessBackend implements SandboxBackend {
  readonly name = 'child-process'
  /** The dispatcher carries connections of programs to the worker. Nothing here keeps them from going elsewhere. */
  readonly network = true
  readonly #sandboxes = new Map<string, Sandbox>()

  async open(spec: SandboxSpec, signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted()
    if (spec.language !== 'python')
      throw new PtcError('SANDBOX_UNAVAILABLE', `${this.name} runs python, not ${spec.language}`)
    const key = keyOf(spec)
    // No await between get and set: two concurrent calls get the same sandbox.
    const sandbox = this.#sandboxes.get(key) ?? { runner: RunnerProcess.start(spec) }
    this.#sandboxes.set(key, sandbox)
    this.#removeWhenEnded(key, sandbox)
    return connect(sandbox)
  }

  async attach(id: SandboxId, signal: AbortSignal): Promise<Connection | undefined> {
    signal.throwIfAborted()
    const sandbox = this.#sandboxes.get(keyOf(id))
    return sandbox && (await sandbox.runner).isAlive ? connect(sandbox) : undefined
  }

  async remove(id: SandboxId): Promise<void> {
    const sandbox = this.#sandboxes.get(keyOf(id))
    this.#sandboxes.delete(keyOf(id))
    await stopRunner(sandbox)
  }

  async contentsOf(): Promise<SandboxContents> {
    const { stdout } = await execFileAsync('/usr/bin/python3', ['--version'])
    const none = { names: [], more: 0 }
    return { programs: [stdout.trim()], languages: ['python'], packages: { apt: none, pip: none, npm: none } }
  }

  async check(): Promise<BackendCheck> {
    try {
      const { stdout } = await execFileAsync('/usr/bin/python3', ['-P', '--version'])
      const message = 'child processes provide no isolation'
      const remedy = 'Use them only for code that you would run yourself.'
      return { usable: true, summary: stdout.trim(), problems: [{ severity: 'warning', message, remedy }] }
    } catch {
      const problem = { severity: 'error', message: 'there is no Python 3.11', remedy: 'Install python3.' } as const
      return { usable: false, summary: 'no Python', problems: [problem] }
    }
  }

  #removeWhenEnded(key: string, sandbox: Sandbox): void {
    const removeSandbox = () => {
      if (this.#sandboxes.get(key) === sandbox) this.#sandboxes.delete(key)
    }
    sandbox.runner.then((runner) => runner.ended).then(removeSandbox, removeSandbox)
  }

  async close(): Promise<void> {
    const sandboxes = [...this.#sandboxes.values()]
    this.#sandboxes.clear()
    await Promise.all(sandboxes.map(stopRunner))
  }
}

/** A new connection replaces the one before it. */
async function connect(sandbox: Sandbox): Promise<Connection> {
  await sandbox.connection?.detach()
  return (sandbox.connection = new Connection(await sandbox.runner))
}

async function stopRunner(sandbox: Sandbox | undefined): Promise<void> {
  const runner = await sandbox?.runner
  runner?.kill()
  await runner?.ended
}

function keyOf({ namespace, session, epoch }: SandboxId): string {
  return JSON.stringify([namespace, session, epoch])
}
