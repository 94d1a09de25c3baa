/*
 * Loaded once into each thread that runs workflows, before any workflow (`preloadModules` in scripts/build.mjs).
 *
 * The SDK records the stack of every promise that workflow code makes, for the query `__stack_trace`. With ten frames,
 * V8's default, recording took a fifth of the time of a sequential call. Two frames still show where an error was
 * thrown.
 */
Error.stackTraceLimit = 2
