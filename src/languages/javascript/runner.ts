import type { Runner } from '../language.js'

/**
 * The launcher moves the protocol to descriptors 3 and 4: Node.js closes them in its children. Then the runner puts a
 * file behind the descriptors of the program.
 */
const launcher = 'exec 3<&0 4>&1; exec /usr/bin/node "$@"'

const flags = [
  // Types are removed by an experimental function. The warning would be output of the program.
  '--disable-warning=ExperimentalWarning',
  // Code that is ended from outside runs no `finally`, also not those of Node.js, which then counts wrong.
  '--no-force-async-hooks-checks',
]

/** Starts the runner of JavaScript. */
export const runner: Runner = {
  interpreter: ['/bin/sh', '-c', launcher, 'launcher', ...flags],
  entry: 'runner.js',
  environment: {
    // One thread for files, DNS and compression: they end in the order in which they began, also in a rebuild.
    UV_THREADPOOL_SIZE: '1',
    TZ: 'UTC',
    // `toLocaleString` takes its language from here.
    LC_ALL: 'en_US.UTF-8',
    NO_COLOR: '1',
  },
}
