/** Writes a log entry to stderr: the message, and the stack of a tool's error or the message of an error. */
export function writeLog(level: string, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
  const details: unknown = fields['stack'] ?? fields['error'] ?? ''
  process.stderr.write(`[${level}] ${message} ${details instanceof Error ? details.message : String(details)}\n`)
}
