{{/* One for each tenant, or a single one: a JSON array of {name, tenant, values}. */}}
{{- define "codemode.instances" -}}
{{- $base := omit .Values "tenants" "global" -}}
{{- $release := .Release.Name -}}
{{- $found := list -}}
{{- if and .Values.tenants .Values.config.name -}}
{{- fail (printf "%s: config.name would be that of all tenants: remove it, or set it in tenants.NAME.config" $release) -}}
{{- end -}}
{{- range $tenant, $own := .Values.tenants -}}
{{- $name := printf "%s-%s" $release $tenant | trunc 52 | trimSuffix "-" -}}
{{- $values := mergeOverwrite (deepCopy $base) (deepCopy ($own | default dict)) -}}
{{- $found = append $found (dict "name" $name "tenant" $tenant "values" $values) -}}
{{- end -}}
{{- if not .Values.tenants -}}
{{- $found = append $found (dict "name" (trunc 52 $release) "tenant" "" "values" $base) -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{/* Labels that select the pods of an instance. */}}
{{- define "codemode.selector" -}}
app.kubernetes.io/name: codemode
app.kubernetes.io/instance: {{ .name }}
{{- end -}}

{{- define "codemode.labels" -}}
{{ include "codemode.selector" . }}
app.kubernetes.io/managed-by: Helm
{{- with .tenant }}
codemode/tenant: {{ . }}
{{- end }}
{{- end -}}

{{/* The Secret of an instance: its own, or one that exists. */}}
{{- define "codemode.secret" -}}
{{- if and .values.secret.existing .values.secret.data -}}
{{- fail (printf "%s: secret.existing and secret.data exclude each other" .name) -}}
{{- else if .values.secret.data -}}
{{ .name }}
{{- else -}}
{{ required (printf "%s: set secret.existing to a Secret with api_key, journal_url and journal_key" .name) .values.secret.existing }}
{{- end -}}
{{- end -}}

{{/* codemode.yaml, with the name of the project. */}}
{{- define "codemode.config" -}}
{{- $config := .values.config -}}
{{- if not $config.sources -}}
{{- fail (printf "%s: config.sources is empty: add an API" .name) -}}
{{- end -}}
{{- toYaml (merge (deepCopy $config) (dict "name" (.tenant | default .name))) -}}
{{- end -}}
