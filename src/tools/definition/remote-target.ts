import { z } from 'zod'
import type { Effect } from '../../common/calls/calls.js'
import type { RemoteTarget } from '../../common/calls/tool-config.js'
import { defined } from '../../common/defined.js'
import type { InvalidError } from './invalid-tool.js'
import { parseOption } from './invalid-tool.js'
import { milliseconds, taskQueueName, typeName } from './options.js'

const passCall = z.boolean().optional()

const schemas = {
  activity: z.strictObject({
    type: typeName.optional(),
    taskQueue: taskQueueName.optional(),
    scheduleToStartTimeout: milliseconds.optional(),
    heartbeatTimeout: milliseconds.optional(),
    passCall,
  }),
  workflow: z.strictObject({ type: typeName, taskQueue: taskQueueName.optional(), passCall }),
  nexus: z.strictObject({ endpoint: typeName, service: typeName, operation: typeName, passCall }),
}

/** The same time for which a call of a local tool waits for a worker. */
const defaultScheduleToStartMs = 10 * 60_000

interface TargetDefinition {
  readonly name: string
  readonly effect: Effect
  readonly run?: unknown
  readonly activity?: unknown
  readonly workflow?: unknown
  readonly nexus?: unknown
}

/**
 * The target that executes the calls of a remote tool; undefined for a tool with `run`.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function parseRemoteTarget(definition: TargetDefinition, invalid: InvalidError): RemoteTarget | undefined {
  const { name, effect, run } = definition
  const given = (['run', 'activity', 'workflow', 'nexus'] as const).filter((key) => definition[key] !== undefined)
  const [kind] = given
  if (kind === undefined) throw invalid('run is missing', 'Give it a function, or activity, workflow or nexus instead.')
  if (given.length > 1) throw invalid(`${given.join(' and ')} exclude each other`)
  switch (kind) {
    case 'run':
      if (typeof run !== 'function') throw invalid('run must be a function')
      return undefined
    case 'activity': {
      const options = parseOption(kind, schemas.activity, definition.activity, invalid)
      const { type = name, taskQueue, scheduleToStartTimeout, heartbeatTimeout, passCall: passesCall } = options
      return Object.freeze({
        kind,
        type,
        ...defined({ taskQueue }),
        scheduleToStartMs: scheduleToStartTimeout ?? defaultScheduleToStartMs,
        ...defined({ heartbeatMs: heartbeatTimeout }),
        ...(passesCall && { passCall: true as const }),
      })
    }
    case 'workflow': {
      const {
        type,
        taskQueue,
        passCall: passesCall,
      } = parseOption(kind, schemas.workflow, definition.workflow, invalid)
      return Object.freeze({
        kind,
        type,
        ...defined({ taskQueue }),
        ...(passesCall && { passCall: true as const }),
      })
    }
    case 'nexus': {
      if (effect === 'once') {
        throw invalid(
          "a Nexus operation can't have effect 'once'",
          "Temporal repeats the start of an operation with the same request id: use effect 'idempotent'.",
        )
      }
      const { passCall: passesCall, ...target } = parseOption(kind, schemas.nexus, definition.nexus, invalid)
      return Object.freeze({ kind, ...target, ...(passesCall && { passCall: true as const }) })
    }
  }
}
