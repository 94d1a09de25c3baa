import Dockerode from 'dockerode'
import { type TemporalServer, startDevServer } from '../../src/worker/dev-server/index.js'

/** What tests may ask for with vitest's `inject`. */
export interface TestServices {
  readonly temporal: { readonly address: string; readonly namespace: string }
  /** `absent`: wanted if there is one, and there is none. `off`: not wanted (PTC_TEST_DOCKER=off). */
  readonly docker: 'available' | 'absent' | 'off'
}

export interface RunningServices extends TestServices {
  close(): Promise<void>
}

const modes = ['required', 'auto', 'off'] as const
const pingMs = 5_000

/** Starts what all tests share: one Temporal server in memory, and Docker when PTC_TEST_DOCKER wants it. */
export async function startServices(): Promise<RunningServices> {
  const docker = await findDocker()
  const temporal = await startTemporal()
  return {
    temporal: { address: temporal.address, namespace: temporal.namespace },
    docker,
    close: () => temporal.close(),
  }
}

/** Always one of its own: TEMPORAL_ADDRESS may name a server with somebody's real work on it. */
function startTemporal(): Promise<TemporalServer> {
  const signal = AbortSignal.timeout(25 * 60_000)
  return startDevServer({ onProgress: tell, signal })
}

async function findDocker(): Promise<TestServices['docker']> {
  const mode = dockerMode()
  if (mode === 'off') {
    tell('Docker is off (PTC_TEST_DOCKER=off): the tests that need it do not run')
    return 'off'
  }
  const problem = await dockerProblem()
  if (problem === undefined) return 'available'
  if (mode === 'required') throw new Error(`Docker is required (PTC_TEST_DOCKER=required), but ${problem}`)
  tell(`${problem}: the tests that need Docker do not run (PTC_TEST_DOCKER=required makes this an error)`)
  return 'absent'
}

function dockerMode(): (typeof modes)[number] {
  const wanted = process.env['PTC_TEST_DOCKER'] ?? 'auto'
  const mode = modes.find((known) => known === wanted)
  if (mode === undefined) throw new Error(`PTC_TEST_DOCKER is ${wanted}; it can be ${modes.join(', ')}`)
  return mode
}

async function dockerProblem(): Promise<string | undefined> {
  try {
    await new Dockerode({ timeout: pingMs }).ping()
    return undefined
  } catch (error) {
    return `no Docker daemon answers (${error instanceof Error ? error.message : String(error)})`
  }
}

function tell(line: string): void {
  console.error(`› ${line}`)
}
