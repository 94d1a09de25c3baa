/**
 * Node's warning that the TLS server name is an IP address. The gRPC client sets this name for a server that is named
 * by its IP address, and a user of `ptc` can't change that.
 */
const hiddenCode = 'DEP0123'
/** undici's warning that its agent for the proxy of the environment is experimental. */
const experimentalProxy = 'UNDICI-EHPA'

/** Keeps warnings without use for a user of the command line off stderr. */
export function hideWarnings(): void {
  const listeners = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if ('code' in warning && (warning.code === hiddenCode || warning.code === experimentalProxy)) return
    for (const listener of listeners) listener.call(process, warning)
  })
}
