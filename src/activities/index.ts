import type { RunPlan } from '../common/plan.js'
import { activityNames } from '../common/names.js'
import type { PromptOptions } from '../models/prompt.js'
import type { ModelProvider } from '../models/provider.js'
import type { SessionHost } from '../sandbox/session-host.js'
import type { ToolRegistry } from '../tools/registry.js'
import type { Values } from '../values/values.js'
import { joinText } from './join-text.js'
import { appendJournal } from './journal.js'
import { modelTurn } from './model-turn.js'
import { planRun } from './plan-run.js'
import { toolActivities } from './run-tool-call.js'
import { snapshotSession } from './snapshots.js'
import { advanceSession, closeSession, interruptSession, openSession, parkSession } from './sessions.js'

/** The activities of role `workflow`. */
export function workflowActivities(plan: RunPlan, registry: ToolRegistry, values: Values) {
  return {
    [activityNames.planRun]: planRun(plan, registry, values),
    [activityNames.appendJournal]: appendJournal(values),
    [activityNames.joinText]: joinText(values),
  }
}

/** The activities of role `model`. */
export function modelActivities(
  provider: ModelProvider,
  registry: ToolRegistry,
  values: Values,
  options: Pick<PromptOptions, 'instructions' | 'hasPackages'>,
) {
  return { [activityNames.modelTurn]: modelTurn(provider, registry, values, options) }
}

/** The activities of role `sandbox`: what any host does, and what only the session's own can. */
export function sandboxActivities(host: SessionHost, registry: ToolRegistry, values: Values, hostQueue: string) {
  return {
    anyHost: { [activityNames.openSession]: openSession(host, registry, values, hostQueue) },
    ownHost: {
      [activityNames.advanceSession]: advanceSession(host, registry, values),
      [activityNames.interruptSession]: interruptSession(host),
      [activityNames.parkSession]: parkSession(host),
      [activityNames.snapshotSession]: snapshotSession(host, values),
      [activityNames.closeSession]: closeSession(host),
    },
  }
}

export { toolActivities }
