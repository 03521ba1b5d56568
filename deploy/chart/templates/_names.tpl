{{- define "arena.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- /* Labels by which pods are found: (root, component). */ -}}
{{- define "arena.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: pokearena
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "arena.labels" -}}
{{- $root := index . 0 -}}
{{ include "arena.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ $root.Chart.Name }}-{{ $root.Chart.Version }}
{{- end }}

{{- /* "true" if the services serve metrics: for Prometheus, or for KEDA. */ -}}
{{- define "arena.metrics" -}}
{{- if or .Values.services.metrics.enabled (eq .Values.worker.mode "scaledjob") }}true{{ end }}
{{- end }}

{{- /* An image: (root, repository). */ -}}
{{- define "arena.image" -}}
{{- $root := index . 0 -}}
{{ index . 1 }}:{{ $root.Values.image.tag | default $root.Chart.AppVersion }}
{{- end }}
