import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cacheDirectory } from '../../../src/platform/cache-directory.js'
import { withFileLock } from '../../../src/dev-server/file-lock.js'
import { optionalDependency, printProgress } from '../setup/optional-dependency.js'

const run = promisify(execFile)

/** The root of the checkout. */
export const root = fileURLToPath(new URL('../../../', import.meta.url))

const validatorVersion = '1.37.0'

export interface DeployTools {
  /** A folder for PYTHONPATH with the package `kubernetes-validate`, which has the schemas of Kubernetes. */
  readonly kubernetesValidate: string
}

/** The programs that check and use the files of `deploy`: those of Prometheus, Docker Compose, nginx, Redis. */
export const deployTools = optionalDependency(
  'PTC_TEST_DEPLOY',
  'a program that checks the files of deploy',
  async () => {
    await Promise.all([run('promtool', ['--version']), run('prometheus', ['--version'])])
    await Promise.all([run('docker-compose', ['--version']), run('nginx', ['-v']), run('redis-cli', ['--version'])])
    await Promise.all([run('amtool', ['--version']), run('prometheus-alertmanager', ['--version'])])
    return { kubernetesValidate: await installValidator() } satisfies DeployTools
  },
)

/** Installed once, with pip, into the cache folder. */
async function installValidator(): Promise<string> {
  const target = join(cacheDirectory(process.env), `kubernetes-validate-${validatorVersion}`)
  if (existsSync(target)) return target
  await mkdir(cacheDirectory(process.env), { recursive: true })
  await withFileLock(`${target}.lock`, AbortSignal.timeout(600_000), async () => {
    if (existsSync(target)) return
    printProgress(`installing kubernetes-validate ${validatorVersion} with pip: half a minute, once`)
    const unfinished = `${target}.${process.pid}`
    await rm(unfinished, { recursive: true, force: true })
    const requirement = `kubernetes-validate==${validatorVersion}`
    await run('python3', [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--root-user-action=ignore',
      '--target',
      unfinished,
      requirement,
    ])
    await rename(unfinished, target)
  })
  return target
}

/**
 * Runs a program in the checkout.
 *
 * @throws Error with its output when it fails
 */
export async function runTool(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(program, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${code}\n${stdout}${stderr}`)
  return stdout
}

/** A service of docker-compose.yml in the form in which Docker Compose resolves it. */
export interface ComposeService {
  readonly image: string
  readonly build?: unknown
  readonly entrypoint?: readonly string[]
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: { readonly test?: readonly string[] }
}

export type ComposeServices = Readonly<Record<string, ComposeService>>

/**
 * The services of docker-compose.yml.
 *
 * @param env variables where Docker Compose runs
 * @throws Error when Docker Compose refuses the file
 */
export async function composeServices(env: NodeJS.ProcessEnv = {}): Promise<ComposeServices> {
  const [project] = await parseYaml(await runTool('docker-compose', ['config'], env))
  const { services } = project as { readonly services: ComposeServices }
  return Object.fromEntries(Object.entries(services).map(([name, service]) => [name, withSetVariables(service)]))
}

/** Without the variables that the service has from where Docker Compose runs, and that are not set there: null. */
function withSetVariables(service: ComposeService): ComposeService {
  if (service.environment === undefined) return service
  const variables = Object.entries<string | null>(service.environment)
  const set = variables.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  return { ...service, environment: Object.fromEntries(set) }
}

/** The documents of a YAML file. Python's YAML comes with Docker Compose. */
export async function parseYaml(yaml: string): Promise<readonly unknown[]> {
  const script = 'import json, sys, yaml; json.dump(list(yaml.safe_load_all(sys.stdin)), sys.stdout, default=str)'
  const child = spawn('/usr/bin/python3', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(yaml)
  return JSON.parse(await text(child.stdout)) as unknown[]
}

/**
 * Refuses files that do not match the schemas of Kubernetes.
 *
 * @throws Error with the reasons
 */
export async function validateKubernetes({ kubernetesValidate }: DeployTools, paths: readonly string[]): Promise<void> {
  const main = 'from kubernetes_validate.__main__ import main; import sys; sys.exit(main())'
  await runTool('python3', ['-c', main, '--strict', ...paths], { PYTHONPATH: kubernetesValidate })
}
