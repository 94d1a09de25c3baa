import { ServiceError } from '@temporalio/client'
import { expect, it } from 'vitest'
import { temporalError } from './temporal-error.js'

/** Returns an error in the form of the gRPC library. */
function unavailable(details: string): ServiceError {
  const cause = Object.assign(new Error(`14 UNAVAILABLE: ${details}`), { code: 14, details, metadata: {} })
  return new ServiceError('Failed', { cause })
}

it.each([
  [
    'No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:7233. Resolution note: ',
    "can't read run a: there is no connection: connect ECONNREFUSED 127.0.0.1:7233",
  ],
  [
    'No connection established. Last error: null. Resolution note: the name has no address',
    "can't read run a: there is no connection: null (the name has no address)",
  ],
  ['No connection established', "can't read run a: No connection established"],
])('temporalError describes a lost connection: %s', (details, message) => {
  expect(temporalError(unavailable(details), 'read run a', 'a')).toMatchObject({
    code: 'TEMPORAL_UNREACHABLE',
    message,
  })
})
