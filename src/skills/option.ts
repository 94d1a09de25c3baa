import { z } from 'zod'

const folder = z.string().min(1)

/** `skills` of the configuration: a folder or several. */
export const skillsOption = z
  .union([folder, z.array(folder)])
  .default([])
  .transform((folders) => [folders].flat())
