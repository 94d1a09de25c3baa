import { defaultLimits } from '../../common/limits.js'
import type { BackendChoice } from '../../common/plan.js'
import type { BackendCheck, SandboxBackend } from '../../sandbox/backend.js'
import { createDockerBackend } from '../../sandbox/docker/index.js'
import { createWasmBackend } from '../../sandbox/wasm/index.js'
import type { ResolvedConfig } from '../config/parse-config.js'
import { type Check, failed } from './check.js'

/**
 * Both sandboxes, and the configuration's own. One that is missing is an error when the configuration asks for it by name, or when it was the last hope;
 * otherwise the other one does.
 */
export async function checkSandboxes(config: Pick<ResolvedConfig, 'sandbox'> | undefined): Promise<readonly Check[]> {
  const { image, runtime } = config?.sandbox.docker ?? {}
  const own = config?.sandbox.own
  const [docker, wasm, ownFound] = await Promise.all([
    look('Docker sandbox', () =>
      createDockerBackend({
        ...(image === undefined ? {} : { image }),
        ...(runtime === undefined ? {} : { runtime }),
      }),
    ),
    look('Embedded sandbox', () => createWasmBackend({ warm: 0 })),
    own &&
      look(`Sandbox ${own.name}`, () =>
        own.create({ namespace: 'doctor', limits: defaultLimits, onProgress: () => undefined }),
      ),
  ])
  const wanted = config?.sandbox.backend ?? 'auto'
  const dockerResult = judge(docker, isNeeded('docker', wanted, wasm), image === undefined)
  return [
    ...(own && ownFound ? [judge(ownFound, wanted === own.name, false)] : []),
    dockerResult,
    judge(wasm, isNeeded('wasm', wanted, docker), false),
  ]
}

interface Looked {
  readonly name: string
  readonly found: BackendCheck | { readonly thrown: unknown }
}

async function look(name: string, create: () => SandboxBackend | Promise<SandboxBackend>): Promise<Looked> {
  try {
    const backend = await create()
    try {
      return { name, found: await backend.check() }
    } finally {
      await backend.close()
    }
  } catch (thrown) {
    return { name, found: { thrown } }
  }
}

function isNeeded(backend: 'docker' | 'wasm', wanted: BackendChoice, other: Looked): boolean {
  if (wanted !== 'auto') return wanted === backend
  return !('usable' in other.found && other.found.usable)
}

/** @param buildable our own image is built by the first worker: that it is not there yet is no fault */
function judge({ name, found }: Looked, needed: boolean, buildable: boolean): Check {
  if ('thrown' in found) {
    const check = failed(name, found.thrown)
    return needed ? check : { ...check, status: 'warning' }
  }
  const { summary, problems } = found
  const errors = problems.filter(({ severity }) => severity === 'error')
  const onlyImage = buildable && errors.length > 0 && errors.every(({ message }) => /\bimage\b/.test(message))
  const status =
    errors.length > 0 ? (needed && !onlyImage ? 'error' : 'warning') : problems.length > 0 ? 'warning' : 'ok'
  const remedy = problems.map((problem) => problem.remedy).filter((text) => text !== '')
  return {
    name,
    status,
    message: [summary, ...problems.map(({ message }) => message)].join('\n'),
    ...(remedy.length === 0 ? {} : { remedy: [...new Set(remedy)].join('\n') }),
  }
}
