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

{{- define "arena.runtime" -}}
{{- with .Values.bots.runtimeClass -}}
runtimeClassName: {{ . }}
{{- end }}
{{- end }}
