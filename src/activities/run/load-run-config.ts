import { randomBytes } from 'node:crypto'
import { activityInfo, log } from '@temporalio/activity'
import { defined } from '../../common/defined.js'
import { failpoint } from '../../common/failpoint.js'
import type { RunConfig } from '../../common/run/run-config.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import type { SearchAttributeName } from '../../common/run/search-attributes.js'
import { resolveRun, type RunConfiguration } from '../../config/run/resolve-run.js'
import { languageOf } from '../../languages/index.js'
import { recordSkills } from '../../skills/index.js'
import type { StreamPublisher } from '../../stream/index.js'
import { recordToolSet } from '../../tools/sources/tool-set.js'
import type { Values } from '../../values/values.js'
import { Observer } from '../observe.js'
import { runActivity } from '../run-activity.js'
import { recordNetwork } from './record-network.js'

/** The search attributes that runs may set on this server. Never rejects. */
export type SearchAttributeLookup = () => Promise<readonly SearchAttributeName[]>

/** Activity `run.config`: records the configuration of a run, which later deployments do not change. */
export function loadRunConfig(
  configuration: RunConfiguration,
  values: Values,
  lookUpSearchAttributes: SearchAttributeLookup,
  stream?: StreamPublisher,
) {
  const warned = new Set<string>()
  /** Warns once of what each run of an agent repeats. */
  const warn = (line: string): void => {
    if (warned.has(line)) return
    warned.add(line)
    log.warn(line)
  }
  return (options: RunConfigInput): Promise<RunConfig> =>
    runActivity(async (scope) => {
      const { signal } = scope
      const { workflowType, workflowExecution, namespace } = activityInfo()
      const workflow = { workflowType, workflowId: workflowExecution?.workflowId }
      const resolved = resolveRun(configuration, options, workflow)
      const { config, tools, toolSetOrigin, instructions, outputSchema } = resolved
      const { agentName: agent, model } = config
      const started = { type: 'run.started', model: model.name, ...defined({ agent }) } as const
      await new Observer({ stream }, scope, { unit: 'run' }).publish(started)
      const { input } = options
      const [toolSet, searchAttributes] = await Promise.all([
        recordToolSet(tools, values, signal, toolSetOrigin),
        lookUpSearchAttributes(),
      ])
      const skills = await recordSkills(resolved.skills, values, signal, warn)
      const network = resolved.network && (await recordNetwork(resolved.network, values, signal))
      const runConfig: RunConfig = {
        ...config,
        toolSet,
        searchAttributes,
        namespace,
        ...defined({ skills, network }),
        ...((config.tools.some(({ deferred, approval, asks }) => deferred ?? approval ?? asks) ||
          config.dataFlow?.rules.some(({ action }) => action === 'ask')) && {
          completionSecret: randomBytes(32).toString('hex'),
        }),
        ...(instructions && { instructions: await values.externalize(instructions, signal) }),
        ...(outputSchema && { outputSchema: await values.externalize(outputSchema, signal) }),
        ...(input !== undefined && {
          input: {
            value: await values.externalize(input, signal),
            description: languageOf(config.language).describeValue(input),
          },
        }),
      }
      failpoint('config.loaded')
      return runConfig
    })
}
