import type { ModelNode, TurnNode } from '../history/index.js'
import type { Branch } from './branch.js'
import { callBranches } from './call-branch.js'
import { cellBranch } from './cell-branch.js'
import { formatCost, formatTokens } from './format.js'
import { type Line, part, spread } from './line.js'
import { oneLine } from './neutralise.js'
import { attemptsOf, durationOf, facts, type Scene } from './scene.js'
import { statusMark } from './status-mark.js'
import { textBlock } from './text-block.js'

const shownTextLines = 4
/** Stop reasons that everybody expects. */
const usual = new Set(['end_turn', 'tool_use'])

/**
 * One turn of the model and what it made happen.
 *
 * @param answer the run's answer, which is shown on its own and needs not be said twice
 */
export function turnBranch(turn: TurnNode, answer: string | undefined, scene: Scene): Branch {
  const { number, model, cells, directCalls } = turn
  return {
    head: (columns) =>
      model
        ? spread(
            [statusMark(model.status), part(` turn ${number}`, 'bold'), ...unusual(model)],
            modelFacts(model, scene),
            columns,
          )
        : [part(number === 0 ? 'program' : `turn ${number}`, 'bold')],
    body: (columns) => (model ? modelLines(model, answer, scene, columns) : []),
    children: [...cells.map((cell) => cellBranch(cell, scene)), ...callBranches(directCalls, scene)],
  }
}

function unusual(model: ModelNode): Line {
  if (model.status !== 'ok') return model.status === 'failed' ? [] : [part(` the model: ${model.status}`, 'yellow')]
  return usual.has(model.stopReason) ? [] : [part(` stopped: ${oneLine(model.stopReason)}`, 'yellow')]
}

function modelFacts(model: ModelNode, scene: Scene): Line {
  const took = durationOf(model, scene)
  if (model.status !== 'ok') return facts(took, attemptsOf(model))
  return facts(took, attemptsOf(model), formatTokens(model.usage), formatCost(model.costUsd))
}

function modelLines(model: ModelNode, answer: string | undefined, { full }: Scene, columns: number): readonly Line[] {
  const limit = full ? undefined : shownTextLines
  switch (model.status) {
    case 'ok':
      return model.text === answer ? [] : textBlock(model.text, { columns, limit, prose: true })
    case 'failed': {
      const { code, message } = model.failure
      return textBlock(`${code}: ${message}`, { columns, limit, style: 'red', prose: true })
    }
    case 'waiting':
    case 'running':
    case 'interrupted': {
      const { lastFailure } = model
      if (!lastFailure) return []
      const text = `attempt failed: ${lastFailure.code}: ${lastFailure.message}`
      return textBlock(text, { columns, limit, style: 'yellow', prose: true })
    }
  }
}
