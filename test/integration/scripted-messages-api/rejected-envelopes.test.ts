import { ask, assistant, testRejectedRequests, text, user, withMessages, without } from './rejected-requests.js'
import { validHeaders, validRequest } from './support.js'

testRejectedRequests([
  {
    name: 'no key',
    body: validRequest,
    status: 401,
    type: 'authentication_error',
    message: 'x-api-key header is required',
    options: { headers: { ...validHeaders, 'x-api-key': '' } },
  },
  {
    name: 'a wrong key',
    body: validRequest,
    status: 401,
    type: 'authentication_error',
    message: 'invalid x-api-key',
    options: { headers: { ...validHeaders, 'x-api-key': 'sk-wrong' } },
  },
  {
    name: 'a wrong bearer token',
    body: validRequest,
    status: 401,
    type: 'authentication_error',
    message: 'Invalid bearer token',
    options: {
      headers: { 'anthropic-version': '2023-06-01', 'content-type': 'application/json', authorization: 'Bearer nope' },
    },
  },
  {
    name: 'no version',
    body: validRequest,
    message: 'anthropic-version: header is required',
    options: { headers: { 'x-api-key': 'sk-test', 'content-type': 'application/json' } },
  },
  {
    name: 'an unknown version',
    body: validRequest,
    message: 'anthropic-version: "2020-01-01" is not a valid version',
    options: { headers: { ...validHeaders, 'anthropic-version': '2020-01-01' } },
  },
  {
    name: 'another content type',
    body: validRequest,
    message: 'content-type: must be application/json',
    options: { headers: { ...validHeaders, 'content-type': 'text/plain' } },
  },
  { name: 'broken JSON', body: '{"model":', message: /^The request body is not valid JSON: / },
  {
    name: 'a body that is no object',
    body: '[]',
    message: 'Input should be a valid dictionary or object to extract fields from',
  },
  {
    name: 'a body over 32 MB',
    body: 'x'.repeat(32 * 1024 * 1024 + 1),
    status: 413,
    type: 'request_too_large',
    message: 'Request exceeds the maximum size',
  },
  {
    name: 'an unknown path',
    body: validRequest,
    status: 404,
    type: 'not_found_error',
    message: 'Not found',
    options: { path: '/v1/complete' },
  },
  { name: 'another method', body: '', status: 405, message: 'Method Not Allowed', options: { method: 'GET' } },
  { name: 'no model', body: without('model'), message: 'model: Field required' },
  {
    name: 'an unknown model',
    body: { ...validRequest, model: 'claude-none' },
    status: 404,
    type: 'not_found_error',
    message: 'model: claude-none',
  },
  { name: 'no max_tokens', body: without('max_tokens'), message: 'max_tokens: Field required' },
  {
    name: 'max_tokens of 0',
    body: { ...validRequest, max_tokens: 0 },
    message: 'max_tokens: Input should be greater than or equal to 1',
  },
  {
    name: 'max_tokens as text',
    body: { ...validRequest, max_tokens: '10' },
    message: 'max_tokens: Input should be a valid integer',
  },
  {
    name: 'max_tokens with a fraction',
    body: { ...validRequest, max_tokens: 1.5 },
    message: 'max_tokens: Input should be a valid integer, got a number with a fractional part',
  },
  {
    name: 'max_tokens over the model',
    body: { ...validRequest, max_tokens: 200_000 },
    message: 'max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for claude-sonnet-5',
  },
  {
    name: 'an unknown field',
    body: { ...validRequest, idempotency_key: 'x' },
    message: 'idempotency_key: Extra inputs are not permitted',
  },
  {
    name: 'max_tokens in a count',
    body: validRequest,
    message: 'max_tokens: Extra inputs are not permitted',
    options: { path: '/v1/messages/count_tokens' },
  },
  {
    name: 'stream as text',
    body: { ...validRequest, stream: 'yes' },
    message: 'stream: Input should be a valid boolean',
  },
  {
    name: 'temperature over 1',
    body: { ...validRequest, temperature: 1.5 },
    message: 'temperature: Input should be less than or equal to 1',
  },
  {
    name: 'a small thinking budget',
    body: { ...validRequest, thinking: { type: 'enabled', budget_tokens: 10 } },
    message: 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
  },
  {
    name: 'a thinking budget over max_tokens',
    body: { ...validRequest, thinking: { type: 'enabled', budget_tokens: 1_024 } },
    message: '`max_tokens` must be greater than `thinking.budget_tokens`.',
  },
  {
    name: 'a prompt that is too long',
    body: withMessages(user(text('x'.repeat(800_000)))),
    message: /^prompt is too long: \d+ tokens > 200000 maximum$/,
  },
  {
    name: 'temperature since version 2026-10-21',
    body: { ...validRequest, temperature: 1 },
    message: 'temperature: Extra inputs are not permitted',
    options: { headers: { ...validHeaders, 'anthropic-version': '2026-10-21' } },
  },
  {
    name: 'a document by the assistant',
    body: withMessages(ask, assistant({ type: 'document', source: {} }), ask),
    message: 'messages.1: `document` blocks can only be in `user` messages',
    options: { headers: { ...validHeaders, 'anthropic-version': '2026-10-21' } },
  },
  {
    name: 'citations by the user',
    body: withMessages(user({ ...text('x'), citations: [{ type: 'char_location' }] })),
    message: 'messages.0.content.0.text.citations: citations are not permitted in `user` messages',
    options: { headers: { ...validHeaders, 'anthropic-version': '2026-10-21' } },
  },
])
