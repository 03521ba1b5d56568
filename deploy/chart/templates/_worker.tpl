{{- /* The pod of a worker: (root, arguments, restart policy). */ -}}
{{- define "arena.worker" -}}
{{- $root := index . 0 -}}
{{- $worker := $root.Values.worker -}}
metadata:
  labels:
    {{- include "arena.labels" (list $root "worker") | nindent 4 }}
  annotations:
    {{- $secrets := list $root.Values.secret.name $root.Values.objectStorage.secret }}
    {{- include "arena.annotations" (list $root $secrets) | nindent 4 }}
spec:
  {{- include "arena.pod" $root | nindent 2 }}
  restartPolicy: {{ index . 2 }}
  # On SIGTERM a worker finishes its current game and returns the match.
  terminationGracePeriodSeconds: {{ $worker.graceSeconds }}
  {{- include "arena.runtime" $root | nindent 2 }}
  {{- include "arena.spread" (list $root "worker") | nindent 2 }}
  {{- with $worker.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $worker.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $worker.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: worker
      image: {{ include "arena.image" (list $root $root.Values.image.worker) }}
      {{- include "arena.contained" $root | nindent 6 }}
      args:
        {{- toYaml (index . 1) | nindent 8 }}
      {{- include "arena.environmentFrom" $root | nindent 6 }}
      env:
        {{- include "arena.environment" $root | nindent 8 }}
        # Half of the volume below. Files of the running match may exceed it.
        - name: POKEARENA_VERSIONS_MIB
          value: "2048"
      # Not a liveness probe: a failure of Redis must not end a running match.
      readinessProbe:
        exec:
          command: [pokearena, worker, --check]
        periodSeconds: 60
        timeoutSeconds: 20
      resources:
        {{- toYaml $worker.resources | nindent 8 }}
      volumeMounts:
        {{- include "arena.mounts" $root | nindent 8 }}
  volumes:
    # Logs, and fetched files of bots.
    - name: data
      emptyDir: {sizeLimit: 4Gi}
    - name: scratch
      emptyDir: {medium: Memory, sizeLimit: {{ $worker.scratch }}}
    - name: temporary
      emptyDir: {sizeLimit: 64Mi}
{{- end }}
