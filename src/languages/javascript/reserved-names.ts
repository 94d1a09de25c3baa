const splitWords = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Keywords of JavaScript, also those that only modules and strict code have. */
export const javascriptKeywords: ReadonlySet<string> = new Set(
  splitWords(`
    arguments async await break case catch class const continue debugger default delete do else enum eval export extends
    false finally for function if implements import in instanceof interface let new null package private protected public
    return static super switch this throw true try typeof var void while with yield`),
)

/** Names of the language and of Node that a tool of the same name would hide from programs. */
const globals: ReadonlySet<string> = new Set(
  splitWords(`
    Array ArrayBuffer Atomics BigInt Boolean DataView Date Error Function Infinity Intl Iterator JSON Map Math NaN Number
    Object Promise Proxy Reflect RegExp Set String Symbol Temporal WeakMap WeakRef WeakSet WebAssembly
    Buffer Blob File FormData Headers Request Response URL URLSearchParams Event EventTarget AbortController AbortSignal
    MessageChannel MessagePort BroadcastChannel Performance TextDecoder TextEncoder Crypto CryptoKey SubtleCrypto
    Navigator Storage WebSocket EventSource Worker
    atob btoa clearImmediate clearInterval clearTimeout console constructor crypto decodeURI decodeURIComponent encodeURI
    encodeURIComponent escape exports fetch gc global globalThis hasOwnProperty isFinite isNaN isPrototypeOf localStorage
    module navigator of parseFloat parseInt performance process propertyIsEnumerable queueMicrotask require
    sessionStorage setImmediate setInterval setTimeout structuredClone toLocaleString toString undefined unescape
    valueOf`),
)

/** Names that the runner defines in every program. */
const runnerNames: ReadonlySet<string> = new Set(splitWords('input_data'))

/** JavaScript names its errors, typed arrays and streams by rules: `TypeError`, `Uint8Array`, `ReadableStream` … */
function isNamedByRule(name: string): boolean {
  return /^[A-Z]\w*(?:Error|Array|Stream|Event|Registry)$|^Tool[A-Z]\w*$/.test(name)
}

/** Returns whether the name is a keyword, hides a global, or is a name that programs use. */
export function isReservedName(name: string): boolean {
  return javascriptKeywords.has(name) || globals.has(name) || runnerNames.has(name) || isNamedByRule(name)
}
