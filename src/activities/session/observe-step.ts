import { createHash } from 'node:crypto'
import type { LocalCallAllowance, DescribedStepResult, Step, StepResult } from '../../common/session/steps.js'
import type { SessionRef } from '../../common/session/session.js'
import type { RunEvent } from '../../common/telemetry/event-table.js'
import { truncateMiddle } from '../../common/text/text.js'
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
  { session, step, localCalls }: ObservedStep,
  origin: EventOrigin,
  { execute, describe }: StepWork,
): Promise<DescribedStepResult> {
  const { input, number } = step
  const { id, epoch } = session
  const ofCell = input.type === 'cell' ? { cell: input.cell } : {}
  const fields = { ...ofCell, ...(localCalls && { turn: localCalls.turn, cell: localCalls.cell }) }
  const ofStep = { session: id, epoch, step: number }
  const audited = `${id}/${epoch}/${number}`

  async function describeCode(): Promise<{ codeSha256: string; codeBytes: number; code?: string }> {
    const source = input.type === 'cell' ? input.source : ''
    const loaded = await sinks.values.load(source, `the code of cell ${ofCell.cell ?? 0}`, origin.signal)
    // Code is text; another value from the model is reported as JSON.
    const code = typeof loaded === 'string' ? loaded : JSON.stringify(loaded)
    const codeSha256 = createHash('sha256').update(code).digest('hex')
    return { codeSha256, codeBytes: Buffer.byteLength(code), ...sinks.audit?.codeField(code) }
  }

  function endOf(result: DescribedStepResult): readonly RunEvent[] {
    const audit = () => ofStep
    switch (result.type) {
      case 'suspended':
        return []
      case 'lost':
        return [{ type: 'step.failed', ...fields, audit }]
      case 'completed':
        return [{ type: 'cell.completed', ...fields, audit }]
      case 'failed': {
        const { kind: status, error } = result
        return [{ type: 'cell.failed', ...fields, status, stream: () => ({ error }), audit }]
      }
    }
  }

  const isCell = input.type === 'cell'
  const audit = async () => ({ ...ofStep, ...(await describeCode()) })
  const started = isCell ? ({ type: 'cell.started', ...fields, audit } as const) : undefined
  const observer = new Observer(sinks, origin, { unit: `step/${id}/${number}`, epoch, id: audited })
  const described = await observer.observe({ started, completed: endOf }, async (publish) => {
    let lastPreviewAt = -Infinity
    const result = await execute((text) => {
      if (performance.now() - lastPreviewAt < previewMs) return
      lastPreviewAt = performance.now()
      publish({ type: 'output.preview', ...fields, text })
    })
    if (result.type !== 'lost' && result.output !== '')
      publish({ type: 'output.delta', ...fields, text: truncateMiddle(result.output, maxOutputCharacters) })
    return describe(result)
  })
  if (described.type === 'suspended') await publishRefusals(sinks, described.calls, origin, audited)
  return described
}
