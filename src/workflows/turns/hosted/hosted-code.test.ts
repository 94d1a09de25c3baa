import { expect, it } from 'vitest'
import type { AssistantBlock, CodeContainer, ModelReply, ToolUseBlock } from '../../../common/agent/messages.js'
import { zeroUsage } from '../../../common/run/runs.js'
import { afterReply, endStaleCode, hostedTurn, loseContainer, noHostedCode, numberCalls } from './hosted-code.js'

const container: CodeContainer = { id: 'container_1', expiresAt: '2026-11-25T12:05:00Z' }
const expiry = Date.parse('2026-11-25T12:05:00Z')

function reply(content: readonly AssistantBlock[], more: Partial<ModelReply> = {}): ModelReply {
  const base = { model: 'm', stopReason: 'tool_use', usage: zeroUsage, costUsd: null, requestId: null }
  return { ...base, content, ...more }
}

const codeUse = (id: string): AssistantBlock => ({ type: 'server_tool_use', id, name: 'code_execution', input: {} })
const codeResult = (id: string): AssistantBlock => ({
  type: 'code_execution_tool_result',
  tool_use_id: id,
  content: {},
})
const callOf = (code: string, id: string): ToolUseBlock => ({
  type: 'tool_use',
  id,
  name: 'pay',
  input: {},
  caller: { type: 'code_execution_20260120', tool_id: code },
})

it('a reply counts a cell for each hosted code, and its container and waiting code are kept', () => {
  const first = afterReply(noHostedCode, reply([codeUse('s1'), callOf('s1', 'a')], { container }), 2)
  expect(first).toEqual({
    state: { container, open: [{ id: 's1', name: 'code_execution', cell: 3, calls: 0 }], freeTurns: 0 },
    cells: 1,
  })
  const second = afterReply(first.state, reply([codeResult('s1'), codeUse('s2'), codeResult('s2')]), 3)
  expect(second).toEqual({ state: { container, open: [], freeTurns: 0 }, cells: 1 })
})

it('a server tool that runs no code counts no cell', () => {
  const use = { type: 'server_tool_use', id: 's1', name: 'bash_code_execution', input: {} }
  expect(afterReply(noHostedCode, reply([use]), 0)).toMatchObject({
    state: { open: [{ name: 'bash_code_execution', cell: 0 }] },
    cells: 0,
  })
})

it('the calls of a hosted cell are numbered over several replies, and direct calls are not', () => {
  const direct: ToolUseBlock = { type: 'tool_use', id: 'd', name: 'pay', input: {} }
  const { state: waiting } = afterReply(noHostedCode, reply([codeUse('s1')]), 0)
  const first = numberCalls(waiting, [callOf('s1', 'a'), direct, callOf('s1', 'b'), callOf('unknown', 'c')])
  expect(first.positions).toEqual({ a: { cell: 1, index: 1 }, b: { cell: 1, index: 2 } })
  expect(numberCalls(first.state, [callOf('s1', 'e')]).positions).toEqual({ e: { cell: 1, index: 3 } })
})

it('hosted code is given up when its container has expired, not earlier', () => {
  const { state: waiting } = afterReply(noHostedCode, reply([codeUse('s1')], { container }), 0)
  const results = [{ type: 'tool_result', tool_use_id: 'a', content: '1' }] as const
  expect(endStaleCode(waiting, results, expiry - 1)).toBe(waiting)
  const lost = endStaleCode(waiting, results, expiry)
  expect(hostedTurn(lost)).toEqual({ lost: { uses: [{ id: 's1', name: 'code_execution' }], reason: 'expired' } })
})

it('an expired container without waiting code is kept, because the API may restore it', () => {
  const { state: idle } = afterReply(noHostedCode, reply([], { container }), 0)
  expect(hostedTurn(endStaleCode(idle, [{ type: 'text', text: 'Go on.' }], expiry + 1))).toEqual({ container })
})

it('waiting hosted code is given up when the next message has a text', () => {
  const { state: waiting } = afterReply(noHostedCode, reply([codeUse('s1')], { container }), 0)
  expect(endStaleCode(waiting, [{ type: 'text', text: 'Stop.' }], 0).lost?.reason).toBe('message')
})

it('a lost container is not sent again, and the next reply ends the loss', () => {
  const { state: idle } = afterReply(noHostedCode, reply([], { container }), 0)
  const lost = loseContainer(idle, 'expired')
  expect(hostedTurn(lost)).toEqual({ lost: { uses: [], reason: 'expired' } })
  const next = { ...container, id: 'container_2' }
  expect(hostedTurn(afterReply(lost, reply([], { container: next }), 0).state)).toEqual({ container: next })
})
