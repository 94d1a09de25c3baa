export class RememberedApprovals {
  /** Digests of calls that need no approval again, and results of {@link toolKey}, the oldest first. */
  readonly #remembered: Set<string>

  /** @param remembered by the execution before this one */
  constructor(remembered: readonly string[] = []) {
    this.#remembered = new Set(remembered)
  }

  /** For the next execution of the continue-as-new chain. */
  get state(): readonly string[] {
    return [...this.#remembered]
  }

  has(digest: string): boolean {
    return this.#remembered.has(digest)
  }

  remember(approved: string): void {
    this.#remembered.add(approved)
    const [oldest] = this.#remembered
    if (this.#remembered.size > maxRemembered && oldest !== undefined) this.#remembered.delete(oldest)
  }

  /** Returns the keys under which the tool remembers approvals. */
  keysOf(tool: string): readonly string[] {
    const prefix = toolKey(tool, '')
    return this.state.filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length))
  }
}

/** When an older approval is dropped, the next call like that needs a new approval. */
const maxRemembered = 1_000

/** An approval for the calls of a tool that have this key. Neither a digest nor the name of a tool has a line break. */
export function toolKey(tool: string, key: string): string {
  return `${tool}\n${key}`
}
