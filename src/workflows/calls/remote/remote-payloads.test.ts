import { expect, it } from 'vitest'
import { readRemoteResult } from './remote-payloads.js'

const payload = (encoding: string | undefined, data: string) => ({
  metadata: encoding === undefined ? {} : { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
})

it.each([
  ['json/plain', '{"a": "é"}', { a: 'é' }],
  ['json/protobuf', '{"seconds": "1"}', { seconds: '1' }],
])('the result of a remote tool is read: %s', (encoding, json, value) => {
  expect(readRemoteResult(payload(encoding, json))).toEqual({
    status: 'read',
    value,
    bytes: Buffer.byteLength(json),
  })
})

it('a missing result, and the null of other SDKs, are read as null', () => {
  for (const nothing of [undefined, payload('binary/null', '')]) {
    expect(readRemoteResult(nothing)).toMatchObject({ status: 'read', value: null })
  }
})

it.each([
  ['binary/plain', 'bytes', 'its result has the encoding "binary/plain", which is not JSON'],
  ['binary/encrypted', 'bytes', 'its result has the encoding "binary/encrypted", which is not JSON'],
  [undefined, '1', 'its result has the encoding "", which is not JSON'],
  ['json/plain', '{"a":', 'its result is not JSON'],
  ['json/plain', '', 'its result is not JSON'],
])('the encoding %s of the result %j is refused', (encoding, data, reason) => {
  expect(readRemoteResult(payload(encoding, data))).toEqual({ status: 'unreadable', reason })
})
