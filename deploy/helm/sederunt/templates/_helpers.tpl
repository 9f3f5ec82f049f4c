{{- define "sederunt.labels" -}}
app.kubernetes.io/name: sederunt
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{/* What every role's pod has: identity, settings, a file system that cannot be written but for its volumes. */}}
{{- define "sederunt.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
{{- end }}

{{- define "sederunt.container" -}}
name: {{ .role }}
image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
  seccompProfile: {{ toYaml .seccompProfile | nindent 4 }}
envFrom:
  - secretRef:
      name: {{ .root.Values.existingSecret }}
env:
  - name: SEDERUNT_API__PUBLIC_URL
    value: {{ .root.Values.publicUrl | quote }}
  - name: SEDERUNT_HOST__NAME
    valueFrom:
      fieldRef:
        fieldPath: metadata.name
{{- range $name, $value := .root.Values.settings }}
  - name: {{ $name }}
    {{- /* A values file has every number as a fraction: four thousand million would become "4e+09". */}}
    value: {{ if and (kindIs "float64" $value) (eq (floor $value) $value) }}{{ int64 $value | quote }}{{ else }}{{ $value | quote }}{{ end }}
{{- end }}
{{- end }}

{{/* Alive is whose event loop runs: it touches the file every ten seconds. A server of yours that is away is no reason
to start anew. A process gets minutes, for an end costs a host its bots. */}}
{{- define "sederunt.alive" -}}
exec:
  command: [sh, -c, 'test -n "$(find /data/run/{{ .role }}.alive -mmin -2)"']
initialDelaySeconds: 60
timeoutSeconds: 10
periodSeconds: 20
failureThreshold: 4
{{- end }}
