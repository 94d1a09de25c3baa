import { z } from 'zod'

/** The names of packages, with versions, as a sandbox lists them. Packages may be those that somebody else has made. */
export const packageNames = z.strictObject({
  names: z
    .array(z.string().regex(/^[A-Za-z0-9@][A-Za-z0-9@/._+~-]{0,99} [A-Za-z0-9][A-Za-z0-9._+~:!-]{0,59}$/))
    .max(60),
  more: z.int().min(0),
})
