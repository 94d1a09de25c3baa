/** Values that turn on everything. */
export const everything = {
  imagePullSecrets: ['registry'],
  temporal: { secret: 'temporal-cloud', tls: { secret: 'temporal-tls', serverCa: true } },
  taskQueue: 'expenses',
  secrets: ['value-store'],
  workers: {
    workflow: { autoscaling: { enabled: true, minReplicas: 3, backlog: 20 } },
    model: { secrets: ['model-keys'], autoscaling: { enabled: true } },
    tools: {
      secrets: ['tool-credentials'],
      environment: { LEDGER_URL: 'https://ledger' },
      autoscaling: { enabled: true },
    },
    sandbox: { autoscaling: { enabled: true, maxReplicas: 50 }, kubernetes: { runtimeClass: 'gvisor' } },
  },
  serve: {
    origins: ['https://app.example.com'],
    from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }],
  },
  codecServer: {
    enabled: true,
    tokenSecret: { name: 'codec' },
    uiOrigins: ['https://temporal.example.com'],
    from: [{ podSelector: { matchLabels: { app: 'codec-proxy' } } }],
  },
  monitoring: {
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
  },
  autoscaling: { triggerAuthentication: 'temporal-cloud' },
} as const

export const dockerHosts = { workers: { sandbox: { backend: 'docker', kubernetes: { image: '' } } } } as const

export const nothingOptional = {
  workers: { sandbox: { backend: 'none', kubernetes: { image: '' } } },
  serve: { enabled: false, tokenSecret: { name: '' } },
  valuesGc: { enabled: false },
  monitoring: { from: [] },
  networkPolicies: { enabled: false },
} as const
