/** The size of a soak. `npm run test:soak` sets the variables; without them it is the short form of the suites. */
export interface SoakOptions {
  readonly seed: number
  /** Runs that must complete; more are started while a kind of fault has touched none. */
  readonly runs: number
  /** Runs in progress at the same time. */
  readonly atOnce: number
  /** Sandbox hosts, each a network namespace with a Docker daemon and a worker. */
  readonly hosts: number
  /** Workers of the roles `workflow`, `model` and `tools`. */
  readonly workers: number
  /** After this time no run is started. */
  readonly minutes: number
  /** Mean seconds between two faults of hosts, links and workers. Servers have a fault in three times as long. */
  readonly faultSeconds: number
  /** Whether faults go on until the last run has ended. Else each kind goes on until it has touched a run. */
  readonly faultsGoOn: boolean
  /** The timeouts of the product; else shorter ones, with which a lost host is missed sooner. */
  readonly hasDefaultTimeouts: boolean
}

export function soakOptions(environment: NodeJS.ProcessEnv): SoakOptions {
  const number = (name: string, other: number): number => Number(environment[`PTC_SOAK_${name}`] ?? other)
  return {
    seed: number('SEED', Math.floor(Math.random() * 2 ** 32)),
    runs: number('RUNS', 20),
    atOnce: number('AT_ONCE', 5),
    hosts: number('HOSTS', 2),
    workers: number('WORKERS', 2),
    minutes: number('MINUTES', 5),
    faultSeconds: number('FAULT_SECONDS', 1.5),
    faultsGoOn: environment['PTC_SOAK_FORM'] === 'long',
    hasDefaultTimeouts: environment['PTC_SOAK_FORM'] === 'long',
  }
}
