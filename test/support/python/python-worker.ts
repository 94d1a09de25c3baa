import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { sharedServer } from '../temporal/shared-server.js'

/** A worker in Python, which a test can kill. It prints `worker ready` before it polls. */
export class PythonWorker {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** Starts the script and waits until it is ready. */
  static async start(packages: string, script: string, scriptArguments: readonly string[] = []): Promise<PythonWorker> {
    const { address, namespace } = sharedServer()
    const child = spawn('python3', [script, ...scriptArguments], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, PYTHONPATH: packages, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace },
    })
    const worker = new PythonWorker(child)
    const lines = createInterface({ input: child.stdout })
    for await (const line of lines) if (line === 'worker ready') return worker
    throw new Error(`the Python worker ${script} ended before it was ready`)
  }

  /** kill -9; waits for the end of the process. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }
}
