{{- /*
The metadata and spec of a pod: (dict "root" $ "component" NAME "settings" VALUES "args" LIST), and optionally
  "probes"  worker: its health server. http, tcp: the port of "port". Else none.
  "env"     further variables, a list
  "token"   true: the pod gets the token of its service account
  "volumes", "mounts", "groups"   further volumes, their mounts, and groups of the user
*/}}
{{- define "durable-ptc.pod" -}}
{{- $root := .root }}
{{- $values := .root.Values }}
{{- $temporal := $values.temporal }}
metadata:
  labels:
    {{- include "durable-ptc.selector" . | nindent 4 }}
    {{- if eq .probes "worker" }}
    durable-ptc/metrics: 'true'
    {{- end }}
  {{- with .settings.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "durable-ptc.name" $root }}-{{ .component }}
  automountServiceAccountToken: {{ .token | default false }}
  enableServiceLinks: false
  # Longer than the time that a worker gives its running tools.
  terminationGracePeriodSeconds: 40
  {{- with $values.imagePullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- with .nodeSelector | default .settings.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .tolerations | default .settings.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .spread }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "durable-ptc.selector" . | nindent 10 }}
  {{- end }}
  {{- with .restartPolicy }}
  restartPolicy: {{ . }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    seccompProfile: { type: RuntimeDefault }
    {{- with .groups }}
    supplementalGroups: {{ toJson . }}
    {{- end }}
  containers:
    - name: ptc
      image: {{ printf "%s:%s" $values.image.repository $values.image.tag | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: {{ toJson .args }}
      {{- $secrets := concat (list $temporal.secret) $values.secrets .settings.secrets | compact }}
      {{- if $secrets }}
      envFrom:
        {{- range $secrets }}
        - secretRef: { name: {{ . }} }
        {{- end }}
      {{- end }}
      env:
        - { name: TEMPORAL_ADDRESS, value: {{ $temporal.address | quote }} }
        - { name: TEMPORAL_NAMESPACE, value: {{ $temporal.namespace | quote }} }
        - { name: TASK_QUEUE, value: {{ $values.taskQueue | quote }} }
        {{- if $temporal.tls.secret }}
        - { name: TEMPORAL_TLS, value: 'true' }
        - { name: TEMPORAL_TLS_CLIENT_CERT_PATH, value: /etc/temporal-tls/tls.crt }
        - { name: TEMPORAL_TLS_CLIENT_KEY_PATH, value: /etc/temporal-tls/tls.key }
        {{- if $temporal.tls.serverCa }}
        - { name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: /etc/temporal-tls/ca.crt }
        {{- end }}
        {{- end }}
        {{- with $values.workers.sandbox }}
        {{- if eq .backend "kubernetes" }}
        - { name: SANDBOX_NAMESPACE, value: {{ .kubernetes.namespace | quote }} }
        - { name: SANDBOX_IMAGE, value: {{ .kubernetes.image | quote }} }
        {{- with .kubernetes.runtimeClass }}
        - { name: SANDBOX_RUNTIME_CLASS, value: {{ . | quote }} }
        {{- end }}
        {{- end }}
        {{- end }}
        {{- range .env }}
        - {{ toJson . }}
        {{- end }}
        {{- range $name, $value := merge (dict) .settings.environment $values.environment }}
        - { name: {{ $name }}, value: {{ $value | quote }} }
        {{- end }}
      {{- if eq .probes "worker" }}
      ports:
        - { name: metrics, containerPort: 9464 }
        - { name: health, containerPort: 8081 }
      startupProbe:
        httpGet: { path: /healthz, port: health }
        failureThreshold: 30
      livenessProbe:
        httpGet: { path: /healthz, port: health }
        # A tool may block the event loop for as long as its timeout.
        timeoutSeconds: 10
        failureThreshold: 12
      readinessProbe:
        httpGet: { path: /readyz, port: health }
        timeoutSeconds: 6
      {{- else if .port }}
      ports:
        - { name: http, containerPort: {{ .port }} }
      {{- range $probe := list "startupProbe" "livenessProbe" "readinessProbe" }}
      {{ $probe }}:
        {{- if eq $.probes "http" }}
        httpGet: { path: /, port: http }
        {{- else }}
        tcpSocket: { port: http }
        {{- end }}
        {{- if eq $probe "startupProbe" }}
        failureThreshold: 30
        {{- end }}
        timeoutSeconds: 6
      {{- end }}
      {{- end }}
      resources:
        {{- toYaml .settings.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- if $temporal.tls.secret }}
        - { name: temporal-tls, mountPath: /etc/temporal-tls, readOnly: true }
        {{- end }}
        {{- range .mounts }}
        - {{ toJson . }}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {}
    {{- if $temporal.tls.secret }}
    - name: temporal-tls
      secret: { secretName: {{ $temporal.tls.secret }} }
    {{- end }}
    {{- range .volumes }}
    - {{ toJson . }}
    {{- end }}
{{- end }}

{{- /* The account of a component, which has no right: (dict "root" $ "component" NAME "settings" VALUES). */}}
{{- define "durable-ptc.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "durable-ptc.metadata" . | nindent 2 }}
  {{- with .settings.serviceAccountAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- end }}

{{- /* An account, a Deployment and its disruption budget; parameters as those of the pod. */}}
{{- define "durable-ptc.deployment" -}}
{{ include "durable-ptc.serviceAccount" . }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "durable-ptc.metadata" . | nindent 2 }}
spec:
  {{- if not (dig "autoscaling" "enabled" false .settings) }}
  replicas: {{ .settings.replicas }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "durable-ptc.selector" . | nindent 6 }}
  template:
    {{- include "durable-ptc.pod" (merge (dict "spread" true) .) | nindent 4 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "durable-ptc.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "durable-ptc.selector" . | nindent 6 }}
{{- end }}
