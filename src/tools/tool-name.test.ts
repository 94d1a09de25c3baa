import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from './define-tool.js'
import { createRegistry } from './registry.js'
import { findTools } from './documentation/search-tools.js'
import { namesForCode } from './tool-name.js'

describe('the name of a tool in code', () => {
  it.each([
    ['get_expenses', 'get_expenses'],
    ['constructor', 'constructor'],
    ['math.factorial', 'math_factorial'],
    ['server__tool', 'server__tool'],
    ['__secret', 'secret'],
    ['a-b/c.d', 'a_b_c_d'],
    ['sum', 'sum_tool'],
    ['help', 'help_tool'],
    ['import', 'import_tool'],
    ['delete', 'delete_tool'],
    ['None', 'None_tool'],
    ['ValueError', 'ValueError_tool'],
    ['asyncio', 'asyncio_tool'],
    ['read-more', 'read_more_tool'],
    ['9lives', 'tool_9lives'],
    ['_.', 'tool'],
    [`${'a'.repeat(63)}-`, 'a'.repeat(63)],
  ])('the tool name %s is %s in code', (name, expected) => {
    expect(namesForCode([name]).get(name)).toBe(expected)
  })

  it('no two tools have the same name in code, in any order', () => {
    const names = ['a.b', 'a-b', 'a_b', 'sum', 'sum-tool', 'c.d', `${'x'.repeat(62)}.y`, `${'x'.repeat(62)}.z`]
    const forCode = namesForCode(names)
    expect(new Set(forCode.values()).size).toBe(names.length)
    expect([...forCode.values()].every((name) => /^[A-Za-z_]\w{0,63}$/.test(name))).toBe(true)
    expect(forCode.get('a_b')).toBe('a_b')
    expect(forCode.get('a.b')).toMatch(/^a_b_[0-9a-f]{16}$/)
    expect(forCode.get('c.d')).toBe('c_d')
    const reversed = namesForCode(names.toReversed())
    expect(names.map((name) => reversed.get(name))).toEqual(names.map((name) => forCode.get(name)))
  })
})

describe("a tool with a name that code can't use", () => {
  const tool = (name: string) =>
    defineTool({
      name,
      description: 'Does something.',
      input: z.object({ n: z.int() }),
      output: z.int(),
      effect: 'read',
      inputExamples: [{ n: 3 }],
      run: ({ n }) => n,
    })
  const registry = createRegistry([tool('math.factorial'), tool('a.b'), tool('a-b'), tool('look_up')])

  it("a tool keeps a name that code can't use, and has another one for code, which the prompt tells", () => {
    expect(registry.names).toEqual(['math.factorial', 'a.b', 'a-b', 'look_up'])
    expect(registry.toolConfigs()[0]).toMatchObject({ name: 'math.factorial' })
    const [documentation, , , plain] = registry.documentation()
    expect(documentation).toMatchObject({ name: 'math.factorial', codeName: 'math_factorial' })
    expect(documentation?.stub).toMatch(/^async def math_factorial\(n: int\)/)
    expect(documentation?.stub).toContain('Tool math.factorial, which code calls by this name.')
    expect(documentation?.stub).toContain('Example: await math_factorial(n=3)')
    expect(registry.signatures()[0]).toMatchObject({ name: 'math_factorial', tool: 'math.factorial' })
    expect(plain).not.toHaveProperty('codeName')
    expect(registry.signatures()[3]).not.toHaveProperty('tool')
  })

  it('a tool has the same name for code in each subset', () => {
    const all = registry.signatures().find((signature) => signature.tool === 'a.b')
    expect(registry.subset(['a.b']).signatures()).toMatchObject([{ name: all?.name, tool: 'a.b' }])
  })

  it('a tool is found by its own name and by its name for code', () => {
    for (const query of ['math.factorial', 'math_factorial'])
      expect(findTools(registry.documentation(), query).found[0]).toMatchObject({ name: 'math.factorial' })
  })
})
