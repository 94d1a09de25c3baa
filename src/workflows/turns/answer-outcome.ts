import type { JsonValue } from '../../common/json/json.js'
import type { PendingBlock } from '../../common/agent/messages.js'
import type { AgentStatus } from '../../common/run/runs.js'
import type { PlanStep } from '../../common/agent/task-modes.js'
import { joinText } from '../temporal/activities.js'
import type { Run } from '../run/run.js'

/** The end of the turns. */
export interface AnswerOutcome {
  readonly status: AgentStatus
  readonly answer: string
  readonly output?: JsonValue
  /** Set only for the turns that make a plan. Then `answer` is empty. */
  readonly submittedPlan?: SubmittedPlan
}

/** A plan, and the tool use that has submitted it, which still needs its result. */
export interface SubmittedPlan {
  readonly steps: readonly PlanStep[]
  readonly toolUseId: string
}

/** Returns the outcome of mode `single-turn`: the results of the tool uses are the answer. */
export async function outcomeOfResults({ config }: Run, results: readonly PendingBlock[]): Promise<AnswerOutcome> {
  const texts = await Promise.all(results.map(async (block) => textOf(block, config.timeouts)))
  const isFailure = results.some((block) => block.type === 'tool_result' && block.is_error === true)
  return { status: isFailure ? 'tool_error' : 'answered', answer: texts.join('\n\n') }
}

function textOf(block: PendingBlock, timeouts: Run['config']['timeouts']): string | Promise<string> {
  if (block.type === 'text') return block.text
  if (block.type !== 'tool_result') return ''
  return 'externalContent' in block ? joinText(block.externalContent, timeouts) : block.content
}
