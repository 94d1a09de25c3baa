/**
 * Node's warning that the TLS server name is an IP address. The gRPC client sets it for a server that is named by its
 * IP address, and a user of `ptc` can't change that.
 */
const hiddenCode = 'DEP0123'

/** Keeps warnings that say nothing to a user of the command line off stderr. */
export function hideWarnings(): void {
  const listeners = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if ('code' in warning && warning.code === hiddenCode) return
    for (const listener of listeners) listener.call(process, warning)
  })
}
