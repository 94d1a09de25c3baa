import proto from '@temporalio/proto'
import type { OperatorService } from '@temporalio/client'
import { messageOf } from '../../common/errors.js'
import {
  type SearchAttributeName,
  searchAttributeNames,
  searchAttributeTypes,
} from '../../common/run/search-attributes.js'

const { IndexedValueType } = proto.temporal.api.enums.v1

/** A connection of a client or a worker. */
interface OperatorConnection {
  readonly operatorService: OperatorService
  withDeadline<Result>(deadline: number | Date, work: () => Promise<Result>): Promise<Result>
}

const requestTimeoutMs = 3_000

/**
 * The engine's search attributes that a namespace has with the right type.
 *
 * @throws the SDK's error, also when the user of the connection may not list them
 */
export async function registeredSearchAttributes(
  connection: OperatorConnection,
  namespace: string,
): Promise<readonly SearchAttributeName[]> {
  const { customAttributes } = await connection.withDeadline(Date.now() + requestTimeoutMs, () =>
    connection.operatorService.listSearchAttributes({ namespace }),
  )
  return searchAttributeNames.filter(
    (name) => customAttributes?.[name] === IndexedValueType[`INDEXED_VALUE_TYPE_${searchAttributeTypes[name]}`],
  )
}

/** Long enough that many runs share a request, and short enough for a person who has just registered the attributes. */
const cachedForMs = 30_000

/**
 * The search attributes that new runs may set. Asks the server at most once in 30 seconds. An error counts as none,
 * because a run works without them.
 *
 * @param warn receives a line when the server does not answer
 */
export function searchAttributeLookup(
  connection: OperatorConnection,
  namespace: string,
  warn: (line: string) => void,
): () => Promise<readonly SearchAttributeName[]> {
  let latest: { readonly askedAt: number; readonly names: Promise<readonly SearchAttributeName[]> } | undefined
  const ask = async (): Promise<readonly SearchAttributeName[]> => {
    try {
      return await registeredSearchAttributes(connection, namespace)
    } catch (thrown) {
      warn(`runs get no search attributes, because the server does not list them: ${messageOf(thrown)}`)
      return []
    }
  }
  return () => {
    const now = performance.now()
    if (latest === undefined || now - latest.askedAt > cachedForMs) latest = { askedAt: now, names: ask() }
    return latest.names
  }
}
