import type { NetworkTarget } from '../../../src/common/run/network.js'
import type { NetworkAccess, RequestEvent } from '../../../src/sandbox/network/access.js'

export interface AccessOptions {
  readonly requestsPerMinute?: number
  readonly bytesPerRequest?: number
  /** Values of credentials by name. */
  readonly credentials?: Readonly<Record<string, string>>
}

/** Access to the network for a test, with the events of its requests in their order. */
export function accessTo(
  allow: readonly NetworkTarget[],
  { requestsPerMinute = 600, bytesPerRequest = 1 << 20, credentials = {} }: AccessOptions = {},
): NetworkAccess & { readonly events: RequestEvent[] } {
  const events: RequestEvent[] = []
  return {
    rules: { allow, requestsPerMinute, bytesPerRequest },
    fillHeaders: (headers) =>
      Promise.resolve(
        Object.fromEntries(
          Object.entries(headers).map(([name, text]) => [
            name,
            text.replaceAll(/\$\{(\w+)\}/g, (_, credential: string) => credentials[credential] ?? ''),
          ]),
        ),
      ),
    observe: (_, event) => {
      events.push(event)
      return Promise.resolve()
    },
    events,
  }
}
