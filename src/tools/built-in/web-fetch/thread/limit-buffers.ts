/**
 * Makes `new Uint8Array(length)` throw over a length, in this thread. The resource limits of a thread bound its objects,
 * and not its buffers, which PDF.js fills with what a hostile stream decompresses to.
 */
export function limitBuffers(maxBytes: number): void {
  const original = globalThis.Uint8Array
  globalThis.Uint8Array = new Proxy(original, {
    construct(target, args: readonly unknown[], newTarget: typeof original) {
      const [length] = args
      if (typeof length === 'number' && length > maxBytes)
        throw new RangeError(`it needs over ${maxBytes} bytes of memory`)
      return Reflect.construct(target, args, newTarget === globalThis.Uint8Array ? target : newTarget) as object
    },
  })
}
