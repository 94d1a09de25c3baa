import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { BenchContext } from './benchmark.js'

const program = fileURLToPath(new URL('unparsed-model.mjs', import.meta.url))

/**
 * Starts a model in a process of its own, which does not parse its requests.
 *
 * @param code what `execute_code` gets in each turn but the last
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
