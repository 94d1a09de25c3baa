import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BundleOptions, WorkflowBundleOption } from '@temporalio/worker'
import { allWorkflowNames, queryRefusedMessage } from '../../common/names.js'
import { PtcError } from '../../common/errors.js'

type WebpackConfig = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0]
type WebpackPlugin = Extract<NonNullable<NonNullable<WebpackConfig['plugins']>[number]>, { apply: unknown }>

/** Written by the build. The same relative path works from `src/worker/plugin` and from `dist/worker/plugin`. */
const built = (path: string): string => fileURLToPath(new URL(`../../../dist/workflows/${path}`, import.meta.url))

const entry = built('with-user-workflows.js')
const interceptorModules = [built('temporal/interceptors.js')]
const tracedModule = built('temporal/traced.js')
const preloadModules = [built('preload.js')]

/** The module name in `src/workflows/with-user-workflows.ts` for the workflows of the user. */
const userModule = 'durable-ptc-user-workflows'

/**
 * Bundles the engine's workflows together with the user's.
 *
 * @param isTraced cells have spans
 */
export function bundleWorkflows(options: BundleOptions, isTraced: boolean): BundleOptions {
  const { workflowsPath, webpackConfigHook = (config) => config } = options
  return {
    ...options,
    workflowsPath: entry,
    workflowInterceptorModules: [
      ...(options.workflowInterceptorModules ?? []),
      ...(isTraced ? [tracedModule] : []),
      ...interceptorModules,
    ],
    preloadModules: [...(options.preloadModules ?? []), ...preloadModules],
    webpackConfigHook: (config) => includeUserWorkflows(webpackConfigHook(config), workflowsPath),
  }
}

function includeUserWorkflows(config: WebpackConfig, workflowsPath: string): WebpackConfig {
  const { resolve = {}, plugins = [] } = config
  const alias = Array.isArray(resolve.alias)
    ? [...resolve.alias, { name: userModule, alias: workflowsPath, onlyModule: true }]
    : { ...resolve.alias, [`${userModule}$`]: workflowsPath }
  return { ...config, resolve: { ...resolve, alias }, plugins: [...plugins, refuseSameNames] }
}

/**
 * Without this check, a workflow of the engine would silently replace a workflow of the user that has the same name.
 */
const refuseSameNames: WebpackPlugin = {
  apply(compiler) {
    compiler.hooks.compilation.tap(userModule, ({ hooks, moduleGraph }) => {
      // Runs after webpack has found the exports of each module, which is a callback of the same hook.
      hooks.finishModules.tapPromise({ name: userModule, stage: 1_000 }, async (modules) => {
        for (const { dependencies } of modules) {
          const dependency = dependencies.find((each) => 'request' in each && each.request === userModule)
          const module = dependency && moduleGraph.getModule(dependency)
          const names = module && moduleGraph.getProvidedExports(module)
          if (Array.isArray(names)) assertNoEngineName(names)
        }
      })
    })
  },
}

/** @throws PtcError CONFIG_INVALID */
function assertNoEngineName(names: readonly string[]): void {
  const taken = allWorkflowNames.find((name) => names.includes(name))
  if (taken === undefined) return
  throw new PtcError('CONFIG_INVALID', `the workflows of this worker export ${taken}, a workflow of durable-ptc`, {
    hint: `Rename it: ${allWorkflowNames.join(', ')} are the workflow types of durable-ptc.`,
  })
}

/**
 * Checks that a bundle of the user has the engine's workflows.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function assertHasEngineWorkflows(bundle: WorkflowBundleOption): void {
  const code = 'code' in bundle ? bundle.code : readFileSync(bundle.codePath, 'utf8')
  // The message of an interceptor that is in every bundle with the engine's workflows.
  if (code.includes(queryRefusedMessage)) return
  throw new PtcError('CONFIG_INVALID', 'the workflow bundle of this worker has no workflows of durable-ptc', {
    hint: 'Give the same plugin to bundleWorkflowCode: `plugins: [new PtcPlugin(…)]`.',
  })
}
