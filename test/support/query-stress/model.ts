import { Context } from '@temporalio/activity'
import type { AssistantBlock, ModelReply } from '../../../src/common/agent/messages.js'
import { executeCodeTool } from '../../../src/common/names.js'
import type { ModelTurnInput, ModelTurnResult } from '../../../src/common/agent/model-turn.js'
import { zeroUsage } from '../../../src/common/run/runs.js'
import type { DescribedCall } from '../../../src/common/session/steps.js'
import type { PlannedTurn } from './plan.js'
import { describedCall } from './sandbox.js'

/** Activity `model.turn`: returns the turns of the run's plan, then an answer. */
export class FakeModel {
  readonly #plans = new Map<string, readonly PlannedTurn[]>()

  /** Must be called before the agent starts. */
  plan(workflowId: string, turns: readonly PlannedTurn[]): void {
    this.#plans.set(workflowId, turns)
  }

  turn = ({ turn }: ModelTurnInput): ModelTurnResult => {
    const plan = this.#plans.get(Context.current().info.workflowExecution?.workflowId ?? '') ?? []
    const planned = plan[turn - 1]
    const { content, calls } = planned === undefined ? finalReply : replyOf(planned, turn)
    const reply: ModelReply = {
      model: 'fake',
      content,
      stopReason: planned === undefined ? 'end_turn' : 'tool_use',
      usage: zeroUsage,
      costUsd: null,
      requestId: null,
    }
    const head = { sha256: '0'.repeat(64), bytes: 1, preview: '' }
    return { reply, history: { head, segments: 1, length: turn }, conversationBytes: 1, calls }
  }
}

interface PlannedReply {
  readonly content: readonly AssistantBlock[]
  readonly calls: Readonly<Record<string, DescribedCall>>
}

const finalReply: PlannedReply = { content: [{ type: 'text', text: 'done' }], calls: {} }

function replyOf(planned: PlannedTurn, turn: number): PlannedReply {
  if (planned.type === 'cell') {
    const input = { code: JSON.stringify(planned.cell) }
    return { content: [{ type: 'tool_use', id: `use-${turn}`, name: executeCodeTool, input }], calls: {} }
  }
  const uses = planned.durations.map((ms, index) => ({ id: `use-${turn}-${index}`, ms, index }))
  return {
    content: uses.map(({ id, ms }) => ({ type: 'tool_use', id, name: describedCall(1, ms).tool, input: { ms } })),
    calls: Object.fromEntries(uses.map(({ id, ms, index }) => [id, describedCall(index + 1, ms)])),
  }
}
