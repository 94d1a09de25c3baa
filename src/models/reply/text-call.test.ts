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
  // Of models without their special tokens, or with those of their template.
  `hm</think>\n${json}`,
  `hm {"a"}</think>\n\n<tool_call>\n${json}\n</tool_call>`,
  `<think>So I write {"name": "pay"}.</think>\n${json}`,
  `[THINK]hm[/THINK]${json}`,
  `<|START_THINKING|>hm<|END_THINKING|><|START_ACTION|>[{"tool_name": "execute_code", "parameters": {}}]<|END_ACTION|>`,
  '[TOOL_CALLS]execute_code{"code": "print(1)"}',
  '[TOOL_CALLS]execute_code[ARGS]{"code": "print(1)"}',
  '[TOOL_CALLS]execute_code[CALL_ID]aB3dE6gH9[ARGS]{"code": "print(1)"}',
  'execute_code[ARGS]{"code": "print(1)"}',
  'execute_code{"code": "print(1)"}',
  '<tool_call>execute_code\n<arg_key>code</arg_key>\n<arg_value>print(1)</arg_value>\n</tool_call>',
  '<tool_call>execute_code\n</tool_call>',
  '<|tool_calls_section_begin|><|tool_call_begin|>functions.execute_code:0<|tool_call_argument_begin|>{"code": "1"}' +
    '<|tool_call_end|><|tool_calls_section_end|>',
  '<|tool_call_begin|>functions.execute_code:0<|tool_call_argument_begin|>{}<|tool_call_end|>',
  'functions.execute_code:0{"code": "1"}',
  '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>execute_code\n```json\n{"code":"1"}\n```' +
    '<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>execute_code<｜tool▁sep｜>{"code":"1"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  '<｜DSML｜function_calls>\n<｜DSML｜invoke name="execute_code">\nx\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
  '<minimax:tool_call>\n<invoke name="execute_code">\nx\n</invoke>\n</minimax:tool_call>',
  '<|channel|>commentary to=functions.execute_code <|constrain|>json<|message|>{"code":"print(1)"}<|call|>',
  '<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.execute_code ' +
    '<|constrain|>json<|message|>{"code":"print(1)"}<|call|>',
  '<|start|>assistant to=functions.execute_code<|channel|>commentary json<|message|>{"code":"1"}<|call|>',
  'commentary to=functions.execute_code json{"code":"1"}',
  'assistantcommentary to=functions.execute_code code<|message|>{"code":"1"}',
  '<|tool_call>call:execute_code{code:<|"|>print(1)<|"|>}<tool_call|>',
  'functools[{"name": "execute_code", "arguments": {}}]',
  '<function(execute_code)>{"code": "print(1)"}</function>',
  'execute_code({"code": "print(1)"})',
  'execute_code({"code": "a(\\")"}); ',
  'await execute_code(code="print(1)")',
  "execute_code(code='''print(\"it's (\")''')",
  '```python\nexecute_code(code="print(1)")\n```',
  '[execute_code(code="1"), pay(to="ada")]',
  'execute_code(code="1")\npay(to="ada")',
  'functions.execute_code({"code": "1"})',
  '<|python_tag|>execute_code.call(code="1")',
  '{"name": "execute_code", "code": "print(1)"}',
  '{"action": "execute_code", "action_input": {"code": "1"}}',
  '{"function_call": {"name": "execute_code", "arguments": "{}"}}',
  `{"tool_calls": [${json}]}`,
  `{"role": "assistant", "content": null, "tool_calls": [{"type": "function", "function": ${json}}]}`,
  `[${json}, ${json}]`,
  `[${json}, {"name": "pay", "arguments": {}}]`,
  `${json}\n${json}`,
  `${json};`,
  '{"name": "execute_code", "arguments": {"code": "print(1)\nprint(2)"}}',
  '<tool_call>\n{"name": "execute_code", "arguments": {"code": "print(1)\nprint(2)"}}\n</tool_call>',
  '{"name": "execute_code", "arguments": {"code": "print("hi")"}}',
  "{'name': 'execute_code', 'arguments': {'code': 'print(1)'}}",
  "{'name': 'execute_code', 'code': 'print(1)'};",
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
  'pay',
  '```\npay\n```',
  'I called execute_code({"code": "1"}).',
  'pay(to="ada") transfers money (see the guide)',
  '`pay(to="ada")` transfers money.',
  '```python\npay(to="ada")\nprint(1)\n```',
  'pay(1)',
  'pay("ada")',
  'pay {to: 1}',
  'pay: {"to": "ada"}',
  'functions.pay is a tool',
  'Write to=functions.pay for {"to": "ada"}',
  '<tool_call> is the tag before a call.',
  '<tool_call>pay is a tool</tool_call>',
  '[TOOL_CALLS] is a token of Mistral.',
  '</think>pay',
  'The model ends with </think> and then the answer.',
  `hm</think>I would call ${json}`,
  `hm</think>\n${json}\nThat is the call.`,
  '{"action": "pay"}',
  '{"action": "pay", "on": "Monday"}',
  '{"name": "pay", "code": "EUR"}',
  "{'name': 'pay', 'age': 36}",
  '{"name": "pay", "note": "a\nb"}',
  '{"tool_calls": 3}',
  '{"tool_calls": []}',
  `{"tool_calls": [${json}], "total": 1}`,
  `{"tool_calls": [${json}], "content": "Done."}`,
  `${json} is a call, and so is ${json}`,
  `\`\`\`json\n${json}\n\`\`\`\nor\n\`\`\`json\n${json}\n\`\`\``,
  '[]',
  '{}',
])('takes anything else for an answer: %j', (text) => {
  expect(of(text)).toBeUndefined()
})

it('treats a text next to a real call as a text', () => {
  const use = { type: 'tool_use', id: 'a', name: 'pay', input: {} } as const
  expect(textCallOf([{ type: 'text', text: json }, use], tools)).toBeUndefined()
})

it.each([
  '<',
  '[',
  '{"name":',
  '<tool_call>',
  '```\n',
  'pay(',
  '</think>',
  '<|a|>',
  '<｜tool▁calls▁begin｜>',
  'functions.',
  'pay(a=1) x ',
  'commentary ',
  '"name" : ',
  '{"name": "pay", "x": ',
  "'",
  '\\"',
  ';',
])('reads a long text of %j quickly', (piece) => {
  const startedAt = performance.now()
  const long = piece.repeat(20_000)
  for (const text of [long, `{${long}}`, `[${long}]`, `<tool_call>{${long}}</tool_call>`])
    expect(of(text)).toBeUndefined()
  expect(performance.now() - startedAt).toBeLessThan(2_000)
})

it('reads calls nested in calls without an endless loop', () => {
  const depth = 100_000
  expect(of(`${'{"function":'.repeat(depth)}{}${'}'.repeat(depth)}`)).toBeUndefined()
})
