{{- /* The pod of a worker: (root, arguments, restart policy). */ -}}
{{- define "arena.worker" -}}
{{- $root := index . 0 -}}
{{- $worker := $root.Values.worker -}}
metadata:
  labels:
    {{- include "arena.labels" (list $root "worker") | nindent 4 }}
spec:
  {{- include "arena.pod" $root | nindent 2 }}
  restartPolicy: {{ index . 2 }}
  # SIGTERM: the game at hand is finished, the match given back.
  terminationGracePeriodSeconds: {{ $worker.graceSeconds }}
  {{- include "arena.runtime" $root | nindent 2 }}
  {{- with $worker.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $worker.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  initContainers:
    # A sidecar: there before the worker, ends with it. It has no secret, and the network of the
    # pod only because the pod has one network.
    - name: referee
      image: {{ include "arena.image" (list $root $root.Values.image.worker) }}
      {{- include "arena.contained" $root | nindent 6 }}
      restartPolicy: Always
      args: [referee, --address, "unix:/run/pokearena/referee.sock"]
      env:
        - name: TMPDIR
          value: /run/pokearena
      startupProbe:
        exec:
          command:
            - python
            - -c
            - "from arena.reach import answers as a; exit(not a('unix:/run/pokearena/referee.sock'))"
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 60
      livenessProbe:
        exec:
          command:
            - python
            - -c
            - "from arena.reach import answers as a; exit(not a('unix:/run/pokearena/referee.sock'))"
        periodSeconds: 10
        timeoutSeconds: 5
      resources:
        {{- toYaml $worker.refereeResources | nindent 8 }}
      volumeMounts:
        - name: scratch
          mountPath: /run/pokearena
  containers:
    - name: worker
      image: {{ include "arena.image" (list $root $root.Values.image.worker) }}
      {{- include "arena.contained" $root | nindent 6 }}
      args:
        {{- toYaml (index . 1) | nindent 8 }}
      env:
        {{- include "arena.environment" $root | nindent 8 }}
        - name: POKEARENA_REFEREE
          value: unix:/run/pokearena/referee.sock
        # Half of the volume below; what a match is playing may come on top.
        - name: POKEARENA_VERSIONS_MIB
          value: "2048"
      # Not its life: that Redis is away is no reason to end what is being played.
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
    # Logs, and the files of bots as they are needed.
    - name: data
      emptyDir: {sizeLimit: 4Gi}
    - name: scratch
      emptyDir: {medium: Memory, sizeLimit: {{ $worker.scratch }}}
    - name: temporary
      emptyDir: {sizeLimit: 64Mi}
{{- end }}
