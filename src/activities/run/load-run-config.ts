import { randomBytes } from 'node:crypto'
import { activityInfo, log } from '@temporalio/activity'
import { defined } from '../../common/defined.js'
import { messageOf } from '../../common/errors.js'
import { failpoint } from '../../common/failpoint.js'
import { type Externalizable, externalValue } from '../../common/json/external-value.js'
import type { BackendChoice, RunConfig } from '../../common/run/run-config.js'
import type { SandboxContents } from '../../common/run/sandbox-image.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import type { SearchAttributeName } from '../../common/run/search-attributes.js'
import { checkLanguagesIn } from '../../config/run/image.js'
import { resolveRun, type RunConfiguration } from '../../config/run/resolve-run.js'
import type { ContentsSpec } from '../../sandbox/backend.js'
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

/** What programs find in the sandbox of a run. Undefined: unknown here. */
export type ContentsLookup = (
  backend: BackendChoice,
  spec: ContentsSpec,
  signal: AbortSignal,
) => Promise<SandboxContents | undefined>

/** A longer description of the sandbox is stored, because every turn has it in the history. */
const maxInlineContents = 600

/** Activity `run.config`: records the configuration of a run, which later deployments do not change. */
export function loadRunConfig(
  configuration: RunConfiguration,
  values: Values,
  lookUpSearchAttributes: SearchAttributeLookup,
  {
    stream,
    contentsOf,
  }: { readonly stream?: StreamPublisher | undefined; readonly contentsOf?: ContentsLookup | undefined } = {},
) {
  const warned = new Set<string>()
  /** Warns once of what each run of an agent repeats. */
  const warn = (line: string): void => {
    if (warned.has(line)) return
    warned.add(line)
    log.warn(line)
  }
  const lookUpContents = async (backend: BackendChoice, { language, image }: ContentsSpec, signal: AbortSignal) => {
    try {
      return await contentsOf?.(backend, { language, image }, signal)
    } catch (thrown) {
      signal.throwIfAborted()
      // A run that needs no code ends without a sandbox. One that needs it reports the reason when it opens one.
      warn(`the prompt does not say what the sandbox has: ${messageOf(thrown)}`)
      return undefined
    }
  }
  return (options: RunConfigInput): Promise<RunConfig> =>
    runActivity(async (scope) => {
      const { signal } = scope
      const { workflowType, workflowExecution, namespace } = activityInfo()
      const workflow = { workflowType, workflowId: workflowExecution?.workflowId }
      const resolved = resolveRun(configuration, options, workflow)
      const { config, tools, toolSetOrigin, instructions, outputSchema } = resolved
      const { agentName: agent, model } = config
      const contentsOfSandbox = async (backend: BackendChoice, spec: ContentsSpec) => {
        const contents = await lookUpContents(backend, spec, signal)
        if (contents) checkLanguagesIn(contents, spec.language)
        return contents && (await recordContents(contents, values, signal))
      }
      const { sessionOwner, language, backend } = config
      // The session of another run has the image of that run.
      const image = sessionOwner?.type === 'parent' ? sessionOwner.image : config.image
      const contents = options.isPlain ? undefined : await contentsOfSandbox(backend, { language, image })
      const heldSessions =
        config.heldSessions &&
        (await Promise.all(
          config.heldSessions.map(async (session) => {
            const ofSession = await contentsOfSandbox(session.sandbox ?? 'auto', session)
            return { ...session, ...defined({ contents: ofSession }) }
          }),
        ))
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
        ...defined({ skills, network, contents, heldSessions }),
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

async function recordContents(
  contents: SandboxContents,
  values: Values,
  signal: AbortSignal,
): Promise<Externalizable<SandboxContents>> {
  const isLong = JSON.stringify(contents).length > maxInlineContents
  return isLong ? externalValue(await values.store(contents, signal)) : contents
}
