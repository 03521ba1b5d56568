{{- /* What every pod says of itself: nobody, in the profile of the container runtime, no token. */ -}}
{{- define "arena.pod" -}}
serviceAccountName: {{ include "arena.name" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .Values.podSecurity.user }}
  runAsGroup: {{ .Values.podSecurity.user }}
  fsGroup: {{ .Values.podSecurity.user }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- /* And every container: the profile "restricted" of Kubernetes, and nothing to write to. */ -}}
{{- define "arena.contained" -}}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "arena.environment" -}}
{{- /* Not the volume itself, which is not ours to close to others. */ -}}
- name: POKEARENA_DATA
  value: /data/arena
- name: POKEARENA_SANDBOX
  value: {{ .Values.bots.sandbox }}
{{- with .Values.games }}
- name: POKEARENA_GAMES
  value: {{ join " " . | quote }}
{{- end }}
- name: TMPDIR
  value: /run/pokearena
- name: POKEARENA_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.secret.name }}
      key: {{ .Values.secret.databaseUrl }}
- name: POKEARENA_REDIS_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.secret.name }}
      key: {{ .Values.secret.redisUrl }}
{{- end }}

{{- define "arena.environmentFrom" -}}
{{- with .Values.objectStorage.secret -}}
envFrom:
  - secretRef: {name: {{ . }}}
{{- end }}
{{- end }}

{{- define "arena.mounts" -}}
- name: data
  mountPath: /data
- name: scratch
  mountPath: /run/pokearena
- name: temporary
  mountPath: /tmp
{{- end }}

{{- /* The probes of what serves pages. */ -}}
{{- define "arena.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: pages}
  periodSeconds: 2
  failureThreshold: 60
readinessProbe:
  httpGet: {path: /readyz, port: pages}
  periodSeconds: 5
livenessProbe:
  httpGet: {path: /healthz, port: pages}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end }}

{{- /*
Annotations that change with the Secrets of a pod: (root, names). Environment variables are read only
when a pod starts. `lookup` finds nothing without a cluster, for example in `helm template`.
*/ -}}
{{- define "arena.annotations" -}}
{{- $root := index . 0 -}}
{{- $versions := list -}}
{{- range index . 1 | compact -}}
{{- $secret := lookup "v1" "Secret" $root.Release.Namespace . | default dict -}}
{{- $versions = append $versions (printf "%s=%s" . (dig "metadata" "resourceVersion" "" $secret)) -}}
{{- end -}}
checksum/secrets: {{ join "," $versions | sha256sum }}
{{- end }}

{{- /* Pods of a component are spread over the nodes as far as possible: (root, component). */ -}}
{{- define "arena.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "arena.selector" . | nindent 8 }}
{{- end }}

{{- define "arena.runtime" -}}
{{- with .Values.bots.runtimeClass -}}
runtimeClassName: {{ . }}
{{- end }}
{{- end }}
