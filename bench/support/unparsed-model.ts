import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { BenchContext } from './benchmark.js'

const program = fileURLToPath(new URL('unparsed-model.mjs', import.meta.url))

/**
 * Starts a model that does not parse its requests in its own process.
 *
 * @param code the input of `execute_code` in each turn except the last
 * @returns the base address of its Messages API
 */
export async function startUnparsedModel({ defer }: BenchContext, turns: number, code: string): Promise<string> {
  const child = fork(program, [String(turns), code])
  const exit = once(child, 'exit')
  defer(async () => {
    child.kill()
    await exit
  })
  const [address] = await Promise.race([
    once(child, 'message'),
    exit.then(() => Promise.reject(new Error('the process of the model ended at its start'))),
  ])
  return String(address)
}
