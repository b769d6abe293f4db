/** Wire contract of export archives. */
import { Count, closed, Id, integer, listOf, nullable, oneOf, Timestamp, Type, text } from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

export const ExportRequest = closed({
  list_keys: Type.Optional(
    listOf(registrySchemas.ListKey, 200, {
      minItems: 1,
      uniqueItems: true,
      description: 'All lists in force when absent.',
    }),
  ),
  format: Type.Optional(oneOf(['json', 'ndjson', 'csv', 'xlsx'], { default: 'ndjson' })),
  formula_guard: Type.Optional(Type.Boolean({ default: true })),
  ...registrySchemas.Clocks,
})
export const ExportView = closed(
  {
    export_id: Id(),
    job_id: Id(),
    state: oneOf(['queued', 'running', 'succeeded', 'failed', 'cancelled']),
    created_at: Timestamp(),
    created_by: text(200),
    manifest: nullable(
      closed({
        valid_at: Timestamp(),
        known_at: nullable(Timestamp()),
        format: text(10),
        size_bytes: Count,
        sha256: registrySchemas.Sha256,
        lists: listOf(
          closed({
            list_key: registrySchemas.ListKey,
            via: text(20),
            version: registrySchemas.VersionNumber,
            content_hash: registrySchemas.Sha256,
            overlay_version: nullable(registrySchemas.VersionNumber),
            entry_count: integer(0, Number.MAX_SAFE_INTEGER, {
              description: 'In the file: with an overlay, the entries the tenant sees.',
            }),
            file: text(200),
            sha256: registrySchemas.Sha256,
          }),
          2000,
        ),
      }),
    ),
    content: nullable(text(200)),
  },
  { title: 'ListArchive' },
)
export const ExportParams = closed({ export_id: Id() })
