import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createRegistry } from './registry.js'
import { defineTool } from './define-tool.js'
import type { Tool } from './tool.js'

const tool = (name: string, allowedCallers?: readonly ('direct' | 'code_execution')[]) =>
  defineTool({
    name,
    description: 'Does something.',
    input: z.object({ note: z.string().optional(), id: z.string() }),
    output: z.null(),
    effect: 'idempotent',
    timeout: '5s',
    ...(allowedCallers === undefined ? {} : { allowedCallers }),
    run: () => null,
  })

describe('createRegistry', () => {
  it('the registry names a duplicate tool', () => {
    expect(() => createRegistry([tool('a_tool'), tool('b_tool'), tool('a_tool')])).toThrowError(
      expect.objectContaining({ code: 'TOOL_DUPLICATE', message: 'two tools are named a_tool' }),
    )
  })

  it('the registry rejects an object that is not from defineTool', () => {
    const copied = { ...tool('a_tool') } as Tool
    expect(() => createRegistry([copied])).toThrowError(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: 'tools[0] is not a tool' }),
    )
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('the registry has no tool %s', (name) => {
    expect(createRegistry([tool('a_tool')]).get(name)).toBeUndefined()
  })

  it('the registry returns the tool configs for the workflow', () => {
    expect(createRegistry([tool('a_tool')]).toolConfigs()).toEqual([
      {
        name: 'a_tool',
        allowedCallers: ['direct', 'code_execution'],
        effect: 'idempotent',
        timeoutMs: 5_000,
        attempts: 3,
        inputDigest: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    ])
  })

  it('the registry returns the signatures of tools that code may call, required parameters first', () => {
    const signatures = createRegistry([tool('a_tool', ['direct']), tool('b_tool', ['code_execution'])]).signatures()
    expect(signatures).toEqual([
      {
        name: 'b_tool',
        parameters: ['id', 'note'],
        required: ['id'],
        documentation: expect.stringContaining('async def b_tool('),
      },
    ])
  })

  it('the registry is immutable', () => {
    const registry = createRegistry([tool('a_tool')])
    expect(Object.isFrozen(registry) && Object.isFrozen(registry.names)).toBe(true)
  })
})
