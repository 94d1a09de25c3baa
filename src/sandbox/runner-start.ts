import { defined } from '../common/defined.js'
import { installFolder, languageOf, runnerCommand, withNetwork } from '../languages/index.js'
import type { SandboxSpec } from './backend.js'

/** The variables of every sandbox of an image, besides those of its runner. */
export const commonEnvironment = {
  PATH: '/usr/bin:/bin',
  HOME: '/tmp',
  LANG: 'C.UTF-8',
  MATPLOTLIBRC: `${installFolder}/image/matplotlibrc`,
  // For numpy. With one thread, sums of floats have the same order in every rebuild, and a machine with many processors
  // does not reach the limit on processes.
  OMP_NUM_THREADS: '1',
  OPENBLAS_NUM_THREADS: '1',
}

/** How a sandbox starts its runner. */
export interface RunnerStart {
  /** The program with its arguments. Interpreters have the paths of Debian, such as `/usr/bin/python3`. */
  readonly command: readonly string[]
  /**
   * The variables that the runner needs, besides those of every sandbox. `PTC_FOLDER` is `privateFolder`.
   * `PTC_PROXY_PORT`, for a network, is a port of the loopback interface; 0 stands for any that is free.
   */
  readonly environment: Readonly<Record<string, string>>
  /** A folder that only the user of the sandbox may use, besides `/tmp`. Undefined: the runner needs none. */
  readonly privateFolder?: string
}

/**
 * Returns how a sandbox starts the runner of its language, or the dispatcher for several languages and for a network.
 *
 * @param runners the folder of the runners in the sandbox. Default: that in the images of this package
 */
export function runnerStart(
  { language, network }: Pick<SandboxSpec, 'language' | 'network'>,
  runners: string = installFolder,
): RunnerStart {
  const known = languageOf(language)
  const chosen = network ? withNetwork(known) : known
  const { environment, privateFolder } = chosen.runner
  // The dispatcher gets the commands of runners as JSON.
  const command = runnerCommand(chosen).map((text) => text.replaceAll(installFolder, runners.replace(/\/$/, '')))
  return { command, environment, ...defined({ privateFolder }) }
}
