/** Keys of Anthropic and OpenAI. Some messages of an API contain a masked key. */
const keyShape = /\bsk-[\w*-]{8,}/g

/** Replaces secrets in a text for logs, users and the workflow's history. */
export function redact(text: string, secrets: readonly string[]): string {
  const withoutKnown = secrets
    .filter((secret) => secret.length > 0)
    .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
  return withoutKnown.replaceAll(keyShape, '[redacted]')
}

/** Whether an error, its stack or one of its causes contains a secret. */
export function mentionsSecret(error: unknown, secrets: readonly string[]): boolean {
  return causesOf(error).some(({ message, stack }) => {
    const text = `${message}\n${stack ?? ''}`
    return redact(text, secrets) !== text
  })
}

/** The error and its causes, outermost first, including the members of an AggregateError. */
export function causesOf(thrown: unknown, depth = 8): readonly Error[] {
  if (!(thrown instanceof Error) || depth === 0) return []
  const members: readonly unknown[] = thrown instanceof AggregateError ? thrown.errors : []
  return [thrown, ...[thrown.cause, ...members].flatMap((cause) => causesOf(cause, depth - 1))]
}
