import {
  ask,
  assistant,
  cached,
  result,
  testRejectedRequests,
  text,
  tool,
  use,
  user,
  withMessages,
} from './rejected-requests.js'
import { validRequest } from './support.js'

testRejectedRequests([
  {
    name: 'messages that are no list',
    body: { ...validRequest, messages: 'Hello' },
    message: 'messages: Input should be a valid list',
  },
  { name: 'no message', body: withMessages(), message: 'messages: at least one message is required' },
  {
    name: 'an assistant first',
    body: withMessages(assistant(text('Hi')), ask),
    message: 'messages: first message must use the "user" role',
  },
  {
    name: 'an unknown role',
    body: withMessages(ask, { role: 'tool', content: 'x' }),
    message: 'messages: Unexpected role "tool". Allowed roles are "user" or "assistant"',
  },
  {
    name: 'a system message',
    body: withMessages({ role: 'system', content: 'x' }, ask),
    message:
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
  },
  {
    name: 'an unknown field in a message',
    body: withMessages({ ...ask, name: 'x' }),
    message: 'messages.0.name: Extra inputs are not permitted',
  },
  {
    name: 'an empty message',
    body: withMessages({ role: 'user', content: '' }),
    message: 'messages.0: all messages must have non-empty content except for the optional final assistant message',
  },
  {
    name: 'a message without blocks',
    body: withMessages(ask, assistant(), ask),
    message: 'messages.1: all messages must have non-empty content except for the optional final assistant message',
  },
  {
    name: 'an unknown block',
    body: withMessages(user({ type: 'hologram' })),
    message:
      /^messages\.0\.content\.0: Input tag 'hologram' found using 'type' does not match any of the expected tags: 'bash_code_execution_tool_result', .*'text'/,
  },
  {
    name: 'a block without type',
    body: withMessages(user({ text: 'x' })),
    message: 'messages.0.content.0.type: Field required',
  },
  {
    name: 'a block that is no object',
    body: withMessages(user('x')),
    message: 'messages.0.content.0: Input should be a valid dictionary or object to extract fields from',
  },
  {
    name: 'a text block without text',
    body: withMessages(user({ type: 'text' })),
    message: 'messages.0.content.0.text.text: Field required',
  },
  {
    name: 'an empty text block',
    body: withMessages(user(text(''))),
    message: 'messages: text content blocks must be non-empty',
  },
  {
    name: 'a blank text block',
    body: withMessages(user(text(' \n'))),
    message: 'messages: text content blocks must contain non-whitespace text',
  },
  {
    name: 'an empty text in a tool result',
    body: withMessages(ask, assistant(use('a')), user({ ...result('a'), content: [text('')] })),
    message: 'messages: text content blocks must be non-empty',
  },
  {
    name: 'an empty block to be cached',
    body: withMessages(user({ ...text(''), ...cached })),
    message: 'messages.0.content.0.text: cache_control cannot be set for empty text blocks',
  },
  {
    name: 'an empty system block',
    body: { ...validRequest, system: [text('')] },
    message: 'system: text content blocks must be non-empty',
  },
  {
    name: 'an unknown field in cache_control',
    body: { ...validRequest, system: [{ ...text('x'), cache_control: { type: 'ephemeral', scope: 'x' } }] },
    message: 'system.0.cache_control.ephemeral.scope: Extra inputs are not permitted',
  },
  {
    name: 'an unknown ttl',
    body: withMessages(user({ ...text('x'), cache_control: { type: 'ephemeral', ttl: '2h' } })),
    message: "messages.0.content.0.text.cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
  },
  {
    name: 'five cache_controls',
    body: {
      ...validRequest,
      tools: [{ ...tool, ...cached }],
      system: [{ ...text('x'), ...cached }],
      messages: [user({ ...text('a'), ...cached }, { ...text('b'), ...cached }, { ...text('c'), ...cached })],
    },
    message: 'A maximum of 4 blocks with cache_control may be provided. Found 5.',
  },
  {
    name: 'a prefill for a model that takes none',
    body: withMessages(ask, assistant(text('So'))),
    message: 'This model does not support assistant message prefill. The conversation must end with a user message.',
  },
  {
    name: 'a prefill that ends in white space',
    body: { ...validRequest, model: 'claude-sonnet-4-5', messages: [ask, assistant(text('So '))] },
    message: 'messages: final assistant content cannot end with trailing whitespace',
  },
  {
    name: 'a system message for an older model',
    body: { ...validRequest, model: 'claude-sonnet-4-5', messages: [ask, { role: 'system', content: 'x' }] },
    message:
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
  },
  {
    name: 'a system message that is no text',
    body: withMessages(ask, { role: 'system', content: [{ type: 'image', source: { type: 'url', url: 'x' } }] }),
    message: 'messages.1: `system` messages can only have `text` blocks',
  },
])
