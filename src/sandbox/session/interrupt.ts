import type { SandboxConnection } from '../backend.js'

/** An interrupt is lost when no code runs yet, or in the middle of a frame, so it is repeated at this interval. */
const interruptRetries = { times: 5, everyMs: 1_000 } as const

/** Interrupts the code until `settled` settles, at most five times. Never rejects. */
export async function repeatInterrupt(connection: SandboxConnection, settled: Promise<unknown>): Promise<void> {
  const isSettled = settled.then(
    () => true,
    () => true,
  )
  const pause = () =>
    new Promise<false>((resolve) => setTimeout(() => resolve(false), interruptRetries.everyMs).unref())
  for (let retry = 0; retry < interruptRetries.times; retry += 1) {
    await connection.interrupt().catch(() => false)
    if (await Promise.race([isSettled, pause()])) return
  }
}
