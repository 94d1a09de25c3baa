export interface DocumentedOption {
  readonly path: string
  /** Empty: the option has no default. */
  readonly fallback: string
  readonly meaning: string
}

export const pagePaths: readonly string[]
export function optionsOf(page: string): readonly DocumentedOption[]
export function currentPage(page: string): string
