import type { Labels, Manifest } from './helm.js'

export interface PodSpec {
  readonly automountServiceAccountToken: boolean
  readonly serviceAccountName: string
  readonly securityContext: unknown
  readonly nodeSelector?: Labels
  readonly volumes: readonly object[]
  readonly containers: readonly {
    readonly image: string
    readonly args: readonly string[]
    readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[]
    readonly envFrom?: readonly { readonly secretRef: { readonly name: string } }[]
    readonly securityContext: unknown
  }[]
}

export interface PodTemplate {
  readonly metadata: { readonly labels: Labels }
  readonly spec: PodSpec
}

export interface Templated {
  readonly template?: PodTemplate
}

export interface Policy {
  readonly podSelector: { readonly matchLabels?: Labels }
  readonly policyTypes: readonly string[]
  readonly ingress?: readonly { readonly from: readonly object[]; readonly ports: readonly { port: string }[] }[]
}

/** Kinds whose schemas are those of other projects. */
export const isCustom = ({ apiVersion }: Manifest): boolean => /^(monitoring\.coreos\.com|keda\.sh)\//.test(apiVersion)

export function podsOf(manifests: readonly Manifest[]): ReadonlyMap<string, PodTemplate> {
  return new Map(
    manifests.flatMap(({ kind, metadata, spec }) => {
      const job = spec as { jobTemplate: { spec: Templated } } | undefined
      const { template } = (kind === 'CronJob' ? job?.jobTemplate.spec : (spec as Templated | undefined)) ?? {}
      return template ? [[metadata.name, template] as const] : []
    }),
  )
}

export const ofKind = (manifests: readonly Manifest[], kind: string): readonly Manifest[] =>
  manifests.filter((each) => each.kind === kind)

export function specOf(manifest: Manifest | undefined): unknown {
  if (manifest === undefined) throw new Error('the chart has no such object')
  return manifest.spec
}

export const selects = (selector: Labels, labels: Labels): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value)

export const secretsOf = ({ spec }: PodTemplate): readonly string[] =>
  (spec.containers[0]?.envFrom ?? []).map(({ secretRef }) => secretRef.name)

export const variablesOf = ({ spec }: PodTemplate): Readonly<Record<string, unknown>> =>
  Object.fromEntries((spec.containers[0]?.env ?? []).map(({ name, value, valueFrom }) => [name, value ?? valueFrom]))
