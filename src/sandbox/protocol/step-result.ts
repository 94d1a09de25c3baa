import type { CellMeasures } from '../../common/calls/outcomes.js'
import type { FoundFile } from '../../common/files/files.js'
import { defined } from '../../common/defined.js'
import type { StepResult, StepTimes } from '../../common/session/steps.js'
import { areTextRanges } from '../../common/text/text-ranges.js'
import type { StepMessage, StepResponse } from './messages.js'

/** The result of a restore. After a problem the sandbox is unusable. */
export interface RestoreResult {
  readonly type: 'restored'
  readonly problem: string | null
}

/** Converts a response of the runner to a request into a step result. */
export function toStepResult(message: StepResponse, request: StepMessage): StepResult | RestoreResult {
  if (message.type === 'restored') return { type: 'restored', problem: message.problem }
  const { output, interrupted_after: interruptedAfterMs } = message
  const executedAt = earlierTimes(message, request)
  const stderr = message.stderr && areTextRanges(message.stderr, output.length) ? message.stderr : undefined
  const sharedFields = { output, ...defined({ stderr, interruptedAfterMs, executedAt }) }
  switch (message.type) {
    case 'completed':
      return { type: 'completed', ...sharedFields, ...toMeasures(message), ...toFiles(message) }
    case 'failed':
      return {
        type: 'failed',
        kind: message.kind,
        error: message.error,
        ...sharedFields,
        ...toMeasures(message),
        ...toFiles(message),
      }
    case 'suspended':
      return {
        ...sharedFields,
        type: 'suspended',
        calls: message.calls.map(({ call, tool, arguments: args, floats }) => ({
          index: call,
          tool,
          arguments: args,
          ...(floats && { floats }),
        })),
        wakeInMs: message.wake_in === null ? null : Math.ceil(message.wake_in * 1_000),
        ...(message.waits_for_all && { waitsForAll: true }),
      }
  }
}

type CellEndResponse = Extract<StepResponse, { type: 'completed' | 'failed' }>

function toFiles({ files = [] }: CellEndResponse): { readonly files?: readonly FoundFile[] } {
  if (files.length === 0) return {}
  return { files: files.map(({ sha256, problem, ...file }) => ({ ...file, ...defined({ sha256, problem }) })) }
}

function toMeasures({ exit_code: exitCode, usage }: CellEndResponse): CellMeasures {
  if (usage === undefined) return defined({ exitCode })
  const { run_ms: runMs, cpu_ms: cpuMs, peak_memory_bytes: peakMemoryBytes } = usage
  return { ...defined({ exitCode }), usage: { runMs, ...defined({ cpuMs, peakMemoryBytes }) } }
}

/** Returns the times of the earlier request by which the runner executed the step; undefined if it was this request. */
function earlierTimes(
  { now, waited }: Pick<StepResponse, 'now' | 'waited'>,
  request: StepMessage,
): StepTimes | undefined {
  if (request.type === 'restore' || now === undefined || now === request.now) return undefined
  return { now, ...defined({ waited }) }
}
