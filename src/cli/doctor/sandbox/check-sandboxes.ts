import { defined } from '../../../common/defined.js'
import { defaultLanguageName } from '../../../common/names.js'
import { defaultLimits } from '../../../common/run/limits.js'
import type { BackendChoice } from '../../../common/run/run-config.js'
import type { BackendCheck, SandboxBackend } from '../../../sandbox/backend.js'
import { createDockerBackend } from '../../../sandbox/docker/index.js'
import { createWasmBackend } from '../../../sandbox/wasm/index.js'
import type { ResolvedConfig } from '../../../config/parse-config.js'
import { type Check, failed } from '../check.js'

/**
 * Checks both built-in backends and a custom one. An unusable backend is an error when the configuration names it, or
 * when no other backend is usable; otherwise a warning.
 */
export async function checkSandboxes(config: Pick<ResolvedConfig, 'sandbox'> | undefined): Promise<readonly Check[]> {
  const { image, packages, wasm: { wheels } = {}, docker: { runtime } = {} } = config?.sandbox ?? {}
  const definition = config?.sandbox.customBackend
  const [docker, wasm, custom] = await Promise.all([
    inspectBackend('Docker sandbox', () => createDockerBackend(defined({ image, packages, runtime }))),
    inspectBackend('Embedded sandbox', () => createWasmBackend({ warm: 0, wheels })),
    definition &&
      inspectBackend(`Sandbox ${definition.name}`, () =>
        definition.create({
          namespace: 'doctor',
          limits: defaultLimits,
          language: defaultLanguageName,
          onProgress: () => undefined,
        }),
      ),
  ])
  const wanted = config?.sandbox.backend ?? 'auto'
  const dockerResult = toCheck(docker, isRequired('docker', wanted, wasm), image === undefined)
  return [
    ...(custom ? [toCheck(custom, wanted === definition?.name, false)] : []),
    dockerResult,
    // A worker loads the wheels when it may use them.
    toCheck(wasm, isRequired('wasm', wanted, docker) || (wanted === 'auto' && wheels !== undefined), false),
  ]
}

interface InspectedBackend {
  readonly name: string
  readonly found: BackendCheck | { readonly thrown: unknown }
}

async function inspectBackend(
  name: string,
  create: () => SandboxBackend | Promise<SandboxBackend>,
): Promise<InspectedBackend> {
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

function isRequired(backend: 'docker' | 'wasm', wanted: BackendChoice, other: InspectedBackend): boolean {
  if (wanted !== 'auto') return wanted === backend
  return !('usable' in other.found && other.found.usable)
}

/** @param canBuildImage the first worker builds the default image, so a missing image is only a warning */
function toCheck({ name, found }: InspectedBackend, required: boolean, canBuildImage: boolean): Check {
  if ('thrown' in found) {
    const check = failed(name, found.thrown)
    return required ? check : { ...check, status: 'warning' }
  }
  const { summary, problems } = found
  const errors = problems.filter(({ severity }) => severity === 'error')
  const onlyImage = canBuildImage && errors.length > 0 && errors.every(({ kind }) => kind === 'image')
  const status =
    errors.length > 0 ? (required && !onlyImage ? 'error' : 'warning') : problems.length > 0 ? 'warning' : 'ok'
  const remedy = problems.map((problem) => problem.remedy).filter((text) => text !== '')
  return {
    name,
    status,
    message: [summary, ...problems.map(({ message }) => message)].join('\n'),
    ...(remedy.length === 0 ? {} : { remedy: [...new Set(remedy)].join('\n') }),
  }
}
