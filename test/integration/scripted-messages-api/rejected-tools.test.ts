import {
  ask,
  assistant,
  result,
  testRejectedRequests,
  text,
  tool,
  use,
  user,
  withMessages,
  withTools,
} from './rejected-requests.js'
import { validRequest } from './support.js'

testRejectedRequests([
  {
    name: 'a call without result',
    body: withMessages(ask, assistant(use('a'), use('b')), user(result('b'))),
    message:
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  },
  {
    name: 'a call at the end',
    body: withMessages(ask, assistant(use('a'))),
    message: /^messages\.1: `tool_use` ids were found without `tool_result` blocks immediately after: a\./,
  },
  {
    name: 'a result after text',
    body: withMessages(ask, assistant(use('a')), user(text('here'), result('a'))),
    message: /^messages\.1: `tool_use` ids were found without `tool_result` blocks immediately after: a\./,
  },
  {
    name: 'a result one message late',
    body: withMessages(ask, assistant(use('a')), ask, assistant(text('Hm')), user(result('a'))),
    message: /^messages\.1: `tool_use` ids were found without `tool_result` blocks immediately after: a\./,
  },
  {
    name: 'a result without call',
    body: withMessages(user(text('x'), result('a'))),
    message:
      'messages.0.content.1: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
  },
  {
    name: 'two results of one call',
    body: withMessages(ask, assistant(use('a')), user(result('a'), result('a'))),
    message:
      'messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a',
  },
  {
    name: 'two calls of one id',
    body: withMessages(ask, assistant(use('a'), use('a')), user(result('a'))),
    message: 'messages.1.content.1: `tool_use` ids must be unique',
  },
  {
    name: 'an id used again later',
    body: withMessages(ask, assistant(use('a')), user(result('a')), assistant(use('a')), user(result('a'))),
    message: 'messages.3.content.0: `tool_use` ids must be unique',
  },
  {
    name: 'a call by the user',
    body: withMessages(user(use('a'))),
    message: 'messages.0: `tool_use` blocks can only be in `assistant` messages',
  },
  {
    name: 'a result by the assistant',
    body: withMessages(ask, assistant(result('a'))),
    message: 'messages.1: `tool_result` blocks can only be in `user` messages',
  },
  {
    name: 'a bad call id',
    body: withMessages(ask, assistant(use('a:b')), user(result('a:b'))),
    message: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
  },
  {
    name: 'a call whose input is text',
    body: withMessages(ask, assistant({ ...use('a'), input: '{}' }), user(result('a'))),
    message: 'messages.1.content.0.tool_use.input: Input should be a valid dictionary',
  },
  {
    name: 'a call in a result',
    body: withMessages(ask, assistant(use('a')), user({ ...result('a'), content: [use('b')] })),
    message:
      /^messages\.2\.content\.0\.tool_result\.content\.0: Input tag 'tool_use' found using 'type' does not match any of the expected tags: /,
  },
  { name: 'two tools of one name', body: withTools(tool, tool), message: 'tools: Tool names must be unique.' },
  {
    name: 'a bad tool name',
    body: withTools({ ...tool, name: 'get.expenses' }),
    message: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
  },
  {
    name: 'a tool name that is too long',
    body: withTools({ ...tool, name: 'a'.repeat(129) }),
    message: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
  },
  {
    name: 'a tool without schema',
    body: withTools({ name: 'x' }),
    message: 'tools.0.custom.input_schema: Field required',
  },
  {
    name: 'a schema without type',
    body: withTools({ ...tool, input_schema: {} }),
    message: 'tools.0.custom.input_schema.type: Field required',
  },
  {
    name: 'a schema of another type',
    body: withTools({ ...tool, input_schema: { type: 'array' } }),
    message: "tools.0.custom.input_schema.type: Input should be 'object'",
  },
  {
    name: 'a union at the top of a schema',
    body: withTools({ ...tool, input_schema: { type: 'object', anyOf: [] } }),
    message: 'tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level',
  },
  {
    name: 'a schema that is none',
    body: withTools({ ...tool, input_schema: { type: 'object', properties: { x: 'number' } } }),
    message: /^tools\.0\.custom\.input_schema: JSON schema is invalid\. It must match JSON Schema draft 2020-12 /,
  },
  {
    name: 'an unknown field of a tool',
    body: withTools({ ...tool, parameters: {} }),
    message: 'tools.0.custom.parameters: Extra inputs are not permitted',
  },
  {
    name: 'an unknown type of tool',
    body: withTools({ type: 'teleport_20300101', name: 'x' }),
    message:
      /^tools\.0: Input tag 'teleport_20300101' found using 'type' does not match any of the expected tags: 'bash_20250124', /,
  },
  {
    name: 'a choice without tools',
    body: { ...validRequest, tool_choice: { type: 'auto' } },
    message: 'tool_choice may only be specified while providing tools.',
  },
  {
    name: 'a choice that is no tool',
    body: { ...validRequest, tools: [tool], tool_choice: { type: 'tool', name: 'x' } },
    message: "Tool 'x' not found in provided tools",
  },
  {
    name: 'a choice without name',
    body: { ...validRequest, tools: [tool], tool_choice: { type: 'tool' } },
    message: 'tool_choice.tool.name: Field required',
  },
])
