/** A promise that is settled from outside. It never causes an unhandled rejection. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  readonly isSettled: boolean
  resolve(value: T): void
  reject(reason: unknown): void
}

export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined
  let reject: (reason: unknown) => void = () => undefined
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  let isSettled = false
  const settle = (): void => void (isSettled = true)
  promise.then(settle, settle)
  return {
    promise,
    resolve,
    reject,
    get isSettled() {
      return isSettled
    },
  }
}
