/** Wire contract of probes, the machine-readable contract itself, uploads and what the caller can do. */
import { roles } from '#kernel/auth/roles.ts'
import { problems } from '#kernel/problem.ts'
import { Count, closed, Id, integer, listOf, nullable, oneOf, Timestamp, Type, text } from '#kernel/schema.ts'

export const Health = closed({ status: oneOf(['ok']), uptime_s: Count }, { title: 'Health' })

export const ReadinessView = closed(
  {
    status: oneOf(['ready', 'not_ready']),
    checks: Type.Record(
      Type.String(),
      Type.Object({
        status: oneOf(['ok', 'failed', 'not_configured']),
        latency_ms: Type.Optional(Count),
        detail: Type.Optional(Type.String()),
      }),
    ),
  },
  { title: 'Readiness' },
)

export const AnyDocument = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })

export const Version = closed(
  {
    version: text(50),
    commit: nullable(text(64)),
    node: text(50),
    schema_version: text(10),
    api: text(100, { description: 'How the API changes.' }),
  },
  { title: 'Version' },
)

export const ErrorType = closed(
  {
    code: oneOf(Object.keys(problems)),
    type: text(200),
    status: integer(400, 599),
    title: text(200),
    advice: text(1000),
    retryable: Type.Boolean(),
  },
  { title: 'ErrorType' },
)
export const ErrorCatalogue = closed({ items: Type.Array(ErrorType) }, { title: 'ErrorCatalogue' })
export const ErrorParams = closed({ code: text(100, { pattern: '^[a-z0-9_]+$' }) })

export const Upload = closed(
  {
    upload_id: Id(),
    state: oneOf(['receiving', 'stored']),
    file_name: nullable(text(255)),
    size_bytes: Count,
    sha256: nullable(text(64)),
    created_at: Timestamp(),
    created_by: text(200),
    expires_at: Timestamp({ description: 'When the upload is removed; later when it is used.' }),
    used_at: nullable(Timestamp()),
  },
  { title: 'Upload' },
)
export const UploadParams = closed({ upload_id: Id() })
export const UploadQuery = closed({
  file_name: Type.Optional(
    text(255, {
      description:
        'Kept as provenance, without path, control, invisible or direction-changing characters; the answer has what was stored.',
    }),
  ),
  restriction_id: Type.Optional(
    Id({
      description:
        'A restriction that I may see, of the document that the bytes are for: the event in the audit record is hidden with it.',
    }),
  ),
})

export const Capabilities = closed(
  {
    tenant_id: Id(),
    roles: listOf(oneOf(roles), 10),
    operations: listOf(text(100), 1000, { description: 'operationIds this token may call.' }),
    job_kinds: listOf(text(100), 200),
    providers: listOf(text(100), 1000, { description: 'Providers that can be called now.' }),
    plugins: listOf(text(100), 200),
    report_formats: listOf(text(10), 10, { description: 'Formats in which this installation makes reports.' }),
    tools: listOf(text(100), 1000, { description: 'Tools offered over the Model Context Protocol.' }),
  },
  { title: 'Capabilities' },
)

export const LimitsView = closed(
  {
    buckets: listOf(
      closed({ bucket: text(50), limit: Count, remaining: Count, reset_s: Type.Number({ minimum: 0 }) }),
      10,
    ),
  },
  { title: 'Limits' },
)
