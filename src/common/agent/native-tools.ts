/** A tool that the Messages API defines, and that its client executes: name and type are one. */
export const nativeTools = { memory_20250818: 'memory' } as const

export type NativeToolType = keyof typeof nativeTools
