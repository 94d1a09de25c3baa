import { raceWithSignal } from '../../common/async/abort.js'
import { listenForInterrupts } from '../process/interrupts.js'
import type { Environment, EnvironmentOptions } from './environment.js'

/**
 * Opens an environment, performs an action in it, and closes it. Ctrl-C ends the action. Does not load Temporal's SDK
 * before it is called: commands import this module statically.
 *
 * @throws what opening the environment and the action throw; the reason of the signal when the user interrupts
 */
export async function withEnvironment(
  options: Omit<EnvironmentOptions, 'interrupts'>,
  action: (environment: Environment, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  using interrupts = listenForInterrupts()
  const { openEnvironment } = await import('./environment.js')
  await using environment = await openEnvironment({ ...options, interrupts })
  await raceWithSignal(interrupts.first, action(environment, interrupts.first))
}
