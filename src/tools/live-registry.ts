import type { ToolRegistry } from './registry.js'

/** Registries before the current one that a worker keeps: runs that began with them have their own tools. */
const maxEarlier = 10

/** A registry whose tools change while runs use it, because those of a source do. */
export interface LiveRegistry {
  /**
   * Has the tools of the moment at which it is asked. A tool that the current registry lacks is found in earlier ones:
   * a run that began with it may still call it.
   */
  readonly registry: ToolRegistry
  /** New runs have the tools of this registry. */
  readonly replace: (next: ToolRegistry) => void
}

export function liveRegistry(first: ToolRegistry): LiveRegistry {
  let current = first
  let earlier: readonly ToolRegistry[] = []
  const find = (name: string) =>
    current.get(name) ?? earlier.find((registry) => registry.get(name) !== undefined)?.get(name)
  return {
    registry: Object.freeze({
      get language() {
        return current.language
      },
      get names() {
        return current.names
      },
      get digest() {
        return current.digest
      },
      get current() {
        return current
      },
      get earlier() {
        return earlier
      },
      get: find,
      toolConfigs: () => current.toolConfigs(),
      documentation: () => current.documentation(),
      signatures: () => current.signatures(),
      outputSchemas: () => current.outputSchemas(),
      redact: first.redact,
      subset: (names: readonly string[]) => current.subset(names),
      inLanguage: (name: string) => current.inLanguage(name),
    }),
    replace(next) {
      const others = [current, ...earlier].filter(({ digest }) => digest !== next.digest)
      earlier = others.slice(0, maxEarlier)
      current = next
    },
  }
}
