/**
 * What a worker says of a query that it can't answer now (`src/workflows/query-guard.ts`). The same query may be answered
 * when it is sent again.
 */
export const queryRefused = 'The query came between two workflow tasks. Ask again.'
