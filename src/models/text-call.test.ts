import { expect, it } from 'vitest'
import { textCallOf } from './text-call.js'

const tools = new Set(['execute_code', 'pay'])
const of = (text: string) => textCallOf([{ type: 'text', text }], tools)
const json = '{"name": "execute_code", "arguments": {"code": "print(1)"}}'

it.each([
  json,
  `  ${json}\n`,
  `[${json}]`,
  `\`\`\`json\n${json}\n\`\`\``,
  `\`\`\`\n${json}\`\`\``,
  `<tool_call>\n${json}\n</tool_call>`,
  `<tool_call>${json}`,
  `<|tool_call|>${json}<|/tool_call|>`,
  `<|python_tag|>${json}<|eom_id|>`,
  `<function_calls>\n[${json}]\n</function_calls>`,
  `[TOOL_CALLS] [${json}]`,
  `\`\`\`xml\n<tool_call>${json}</tool_call>\n\`\`\``,
  `<think>I call it.</think>\n${json}`,
  '{"name": "execute_code", "parameters": {"code": "print(1)"}}',
  '{"name": "execute_code", "arguments": "{\\"code\\": 1}"}',
  '{"tool": "execute_code", "code": "print(1)"}',
  '{"tool_name": "execute_code", "tool_input": {}}',
  '{"type": "function", "function": {"name": "execute_code", "arguments": {}}}',
  '{"recipient_name": "functions.execute_code", "parameters": {}}',
  '<function=execute_code>\n<parameter=code>\nprint("<b>")\n</parameter>\n</function>',
  '<tool_call>\n<function=execute_code>\n<parameter=code>x</parameter>\n</function>\n</tool_call>',
  '<function name="execute_code"><code>x</code></function>',
  '<function_calls>\n<invoke name="execute_code">\n<parameter name="code">x</parameter>\n</invoke>\n</function_calls>',
  '<execute_code>\nprint(1)\n</execute_code>',
  '[execute_code(code="print(1)")]',
  'execute_code(code="print(1)")',
])('finds the call of a tool that is the whole text: %j', (text) => {
  expect(of(text)).toBe('execute_code')
})

it.each([
  '',
  'The answer is 4.',
  `I would call ${json}`,
  `${json}\nThat is the call.`,
  '{"name": "Ada", "arguments": {"code": "x"}}',
  '{"name": "pay", "age": 36}',
  '{"name": "rm", "arguments": {}}',
  '{"answer": 4}',
  '[{"name": "pay", "arguments": {}}, {"name": "Ada"}]',
  '[1, 2]',
  '{"name": "execute_code", "arguments": {',
  '<b>pay</b>',
  '<p>pay</p> is a tool',
  '```python\nprint(1)\n```',
  'print(code=1)',
  'pay the bill (code=1)',
  'null',
  '"pay"',
])('treats any other text as an answer: %j', (text) => {
  expect(of(text)).toBeUndefined()
})

it('treats a text next to a real call as a text', () => {
  const use = { type: 'tool_use', id: 'a', name: 'pay', input: {} } as const
  expect(textCallOf([{ type: 'text', text: json }, use], tools)).toBeUndefined()
})

it.each(['<', '[', '{"name":', '<tool_call>', '```\n', 'pay('])('reads a long text of %j quickly', (piece) => {
  const startedAt = performance.now()
  expect(of(piece.repeat(20_000))).toBeUndefined()
  expect(performance.now() - startedAt).toBeLessThan(2_000)
})

it('reads calls nested in calls without an endless loop', () => {
  const depth = 100_000
  expect(of(`${'{"function":'.repeat(depth)}{}${'}'.repeat(depth)}`)).toBeUndefined()
})
