/**
 * `DEP0123`: the TLS server name is an IP address. The gRPC client sets it for a server that is named by its IP address,
 * and a user of `ptc` can't change that. `UNDICI-EHPA`: the agent for the proxy of the environment is experimental.
 */
const hiddenCodes: readonly unknown[] = ['DEP0123', 'UNDICI-EHPA']

/** Keeps warnings that say nothing to a user of the command line off stderr. */
export function hideWarnings(): void {
  const listeners = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if ('code' in warning && hiddenCodes.includes(warning.code)) return
    for (const listener of listeners) listener.call(process, warning)
  })
}
