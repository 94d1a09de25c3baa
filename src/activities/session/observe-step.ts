import { createHash } from 'node:crypto'
import { measuresOf } from '../../common/calls/outcomes.js'
import { defined } from '../../common/defined.js'
import type { SessionRef } from '../../common/session/session.js'
import type { DescribedStepResult, LocalCallAllowance, Step, StepResult } from '../../common/session/steps.js'
import type { RunEvent } from '../../common/telemetry/event-table.js'
import { truncateMiddle } from '../../common/text/text.js'
import { cutRanges } from '../../common/text/text-ranges.js'
import type { Values } from '../../values/values.js'
import { type EventOrigin, type EventSinks, Observer } from '../observe.js'
import { publishRefusals } from '../tool-call/observe-call.js'

/** Maximum characters of the output of one step. */
const maxOutputCharacters = 16_000

/**
 * Minimum milliseconds between two events with the output of a step so far. A hostile runner sends output without a
 * pause.
 */
const previewMs = 200

interface ObservedStep {
  readonly session: Pick<SessionRef, 'id' | 'epoch'>
  readonly step: Step
  /** The turn and cell of the step. Absent: they are unknown. */
  readonly localCalls?: Pick<LocalCallAllowance, 'turn' | 'cell'> | undefined
}

interface StepWork {
  /** @param onPrinted must be called with the end of the output of the step so far */
  readonly execute: (onPrinted: (text: string) => void) => Promise<StepResult>
  readonly describe: (result: StepResult) => Promise<DescribedStepResult>
}

/**
 * Executes a step, and publishes its code, its output, and whether it ended the cell. A step that delivers results does
 * not start code, but may end it.
 */
export async function observeStep(
  sinks: EventSinks & { readonly values: Values },
  { session: { id, epoch }, step: { input, number }, localCalls }: ObservedStep,
  origin: EventOrigin,
  { execute, describe }: StepWork,
): Promise<DescribedStepResult> {
  const cell = localCalls?.cell ?? (input.type === 'cell' ? input.cell : undefined)
  const fields = defined({ turn: localCalls?.turn, cell })
  const audit = () => ({ session: id, epoch, step: number })

  async function describeCode() {
    const source = input.type === 'cell' ? input.source : ''
    const loaded = await sinks.values.load(source, `the code of cell ${cell ?? 0}`, origin.signal)
    // Code is text; another value from the model is reported as JSON.
    const code = typeof loaded === 'string' ? loaded : JSON.stringify(loaded)
    const codeSha256 = createHash('sha256').update(code).digest('hex')
    return { ...audit(), codeSha256, codeBytes: Buffer.byteLength(code), ...sinks.audit?.codeField(code) }
  }

  function toEnd(result: DescribedStepResult): readonly RunEvent[] {
    if (result.type === 'suspended') return []
    if (result.type === 'lost') return [{ type: 'step.failed', ...fields, audit }]
    if (input.type === 'file') {
      const { path, whole } = input
      return whole && result.type === 'completed' ? [{ type: 'file.uploaded', path, ...whole, audit }] : []
    }
    const measures = measuresOf(result)
    if (result.type === 'completed') return [{ type: 'cell.completed', ...fields, ...measures, audit }]
    const { kind: status, error } = result
    return [{ type: 'cell.failed', ...fields, status, ...measures, stream: () => ({ error }), audit }]
  }

  const started =
    input.type === 'cell'
      ? ({ type: 'cell.started', ...fields, ...defined({ language: input.language }), audit: describeCode } as const)
      : undefined
  const auditId = `${id}/${epoch}/${number}`
  const observer = new Observer(sinks, origin, { unit: `step/${id}/${number}`, epoch, id: auditId })
  const described = await observer.observe({ started, completed: toEnd }, async (publish) => {
    let lastPreviewAt = -Infinity
    const result = await execute((text) => {
      if (performance.now() - lastPreviewAt < previewMs) return
      lastPreviewAt = performance.now()
      publish({ type: 'output.preview', ...fields, text })
    })
    if (result.type !== 'lost' && result.output !== '') publish({ type: 'output.delta', ...fields, ...shorten(result) })
    return describe(result)
  })
  if (described.type === 'suspended') await publishRefusals(sinks, described.calls, origin, auditId)
  return described
}

/** Returns the output of a step with a limited length. */
function shorten({ output, stderr }: Pick<ExecutedStep, 'output' | 'stderr'>) {
  const text = truncateMiddle(output, maxOutputCharacters)
  const ranges = stderr && cutRanges(stderr, maxOutputCharacters, output.length, text.length)
  return { text, ...defined({ stderr: ranges }) }
}

type ExecutedStep = Exclude<StepResult, { type: 'lost' }>
