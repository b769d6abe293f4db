/** Wire contract of plugins. */
import {
  Count,
  closed,
  ExpectedRevision,
  Id,
  integer,
  listOf,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  RestrictionInForce,
  reasonText,
  Slug,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'
import { MAX_PACKAGE_BYTES } from '#plugin/package.ts'

const FreeObject = (description: string) => Type.Unsafe<Record<string, unknown>>({ type: 'object', description })
const AnyValue = (description: string) => Type.Unsafe<unknown>({ description })

export const PluginKey = Slug({ description: 'Name of the plugin.', examples: ['shell-company-signals'] })
export const PluginParams = closed({ plugin_key: PluginKey })
export const PluginVersionParams = closed({
  plugin_key: PluginKey,
  version: registrySchemas.VersionText('A version number, or the version that the manifest names.'),
})
export const OriginQuery = registrySchemas.OriginQuery

const kinds = ['factor', 'adapter', 'provider'] as const
const KindName = oneOf(kinds, {
  description:
    'factor: a score of a matrix. adapter: entries from the rows of a file. provider: a request and its answer.',
})
const Hash = (description: string) =>
  Type.String({ pattern: '^[0-9a-f]{64}$', minLength: 64, maxLength: 64, description })

export const Reason = closed(
  {
    code: text(100, {
      description: 'What is wrong, such as syntax, example_mismatch, permission_missing or disabled.',
    }),
    message: text(1000),
    pointer: Type.Optional(Type.String({ maxLength: 1000, description: 'JSON Pointer into the manifest.' })),
    line: Type.Optional(integer(0, Number.MAX_SAFE_INTEGER, { description: 'Line of the entry file.' })),
    differences: Type.Optional(
      listOf(
        closed({
          pointer: Type.String(),
          expected: Type.Optional(AnyValue('Absent where the expected output has no such member.')),
          actual: Type.Optional(AnyValue('Absent where the output has no such member.')),
        }),
        100,
        { description: 'How the output of an example differs from the expected one.' },
      ),
    ),
  },
  { title: 'PluginReason' },
)
const Reasons = listOf(Reason, 1000, { description: 'Every reason why it cannot run; empty when it can.' })

export const ExtensionPoints = closed({
  items: listOf(
    closed(
      {
        kind: KindName,
        title: text(200),
        description: text(2000),
        entry_points: listOf(
          closed({
            name: oneOf(['factor', 'adapter', 'request', 'parse'], {
              description: 'The function that the module exports.',
            }),
            arguments: listOf(text(500), 10),
            returns: text(500),
          }),
          4,
        ),
        permissions: listOf(oneOf(['lists', 'hosts']), 2, { description: 'What such a plugin may be granted.' }),
      },
      { title: 'ExtensionPoint' },
    ),
    10,
  ),
  api: integer(1, 1000, { description: 'Version of the interface, as a manifest names it.' }),
  sandbox_hash: Hash('The build of the sandbox that new versions are validated under.'),
  limits: closed({
    package_bytes: Count,
    fuel: Count,
    memory_mib: Count,
    examples: integer(0, 1000, { description: 'How many examples a manifest needs.' }),
  }),
})

const manifestMembers = {
  kind: nullable(KindName),
  title: text(200),
  description: nullable(text(4000)),
}

export const Plugin = closed(
  {
    plugin_key: PluginKey,
    origin: registrySchemas.Origin,
    ...manifestMembers,
    state: oneOf(['live', 'archived']),
    head_version: Count,
    active: nullable(
      closed({
        version: registrySchemas.VersionNumber,
        label: nullable(text(100)),
        via: oneOf(['tenant-own', 'tenant-pin', 'shared']),
        effective_from: Timestamp(),
      }),
    ),
    runs: Type.Boolean({
      description: 'Whether the version in force can run now. While it cannot, what uses it answers 503.',
    }),
    reasons: Reasons,
    disabled: Type.Boolean(),
    disabled_reason: nullable(text(2000)),
    grants: closed({
      lists: listOf(Slug(), 20),
      hosts: listOf(text(253), 20),
      revision: integer(0, Number.MAX_SAFE_INTEGER, { description: '0: nothing was granted yet.' }),
    }),
    configuration: FreeObject('What the plugin is given at every run; empty when it was never configured.'),
    configuration_revision: integer(0, Number.MAX_SAFE_INTEGER, { description: '0: never configured.' }),
    created_at: Timestamp(),
    created_by: text(200),
    updated_at: Timestamp(),
  },
  { title: 'Plugin' },
)
export const PluginPage = pageOf(Plugin)
export const PluginQuery = closed({
  ...pageQuery,
  origin: Type.Optional(registrySchemas.Origin),
  key_prefix: Type.Optional(Slug({ description: 'Only those whose key has this prefix.' })),
})

/** Twice the limit in base64, so that a package that is too large is stored with that reason and not refused unread. */
const MAX_ZIP_CHARACTERS = 700_000

const upload = {
  package: Type.Optional(
    closed(
      {
        manifest: FreeObject('The content of plugin.json.'),
        files: Type.Unsafe<Record<string, string>>({
          type: 'object',
          additionalProperties: { type: 'string', maxLength: 1_000_000 },
          maxProperties: 100,
          description: 'Texts by path; the manifest names the entry file.',
        }),
        signature: Type.Optional(
          closed(
            { publisher: text(100), signature: text(200) },
            { description: 'Ed25519 signature of the content hash, in base64, and whose it is.' },
          ),
        ),
      },
      { description: 'The plugin as JSON.' },
    ),
  ),
  zip: Type.Optional(
    text(MAX_ZIP_CHARACTERS, {
      description: `A zip archive with plugin.json and the entry file, in base64. At most ${MAX_PACKAGE_BYTES / 1024} KiB of content.`,
    }),
  ),
  note: Type.Optional(text(2000, { description: 'What changed and why.' })),
}
export const NewPlugin = closed({ plugin_key: PluginKey, ...upload })
export const NewPluginVersion = closed(upload)

const Validation = closed(
  {
    valid: Type.Boolean({ description: 'Whether the code passed validation under this build of the sandbox.' }),
    sandbox_hash: Hash('Build of the sandbox.'),
    fuel_max: nullable(integer(0, Number.MAX_SAFE_INTEGER, { description: 'The most that an example used.' })),
    validated_at: Timestamp(),
  },
  { title: 'PluginValidation' },
)

const versionMembers = {
  plugin_key: PluginKey,
  origin: registrySchemas.Origin,
  version: registrySchemas.VersionNumber,
  label: nullable(text(100, { description: 'The version that the manifest names.' })),
  ...manifestMembers,
  runs: Type.Boolean({
    description: 'Whether this version could run now, with the grants and configuration of the tenant.',
  }),
  reasons: Reasons,
  validation: nullable(Validation),
  content_hash: nullable(
    Hash('Of manifest and source; decisions pin it. Null where the stored bytes lost their hash.'),
  ),
  in_force: Type.Boolean(),
  note: nullable(text(2000)),
  created_at: Timestamp(),
  created_by: text(200),
}
export const PluginVersionItem = closed(versionMembers, { title: 'PluginVersionItem' })
export const PluginVersionPage = pageOf(PluginVersionItem)
export const PluginVersionQuery = closed({ ...pageQuery, origin: registrySchemas.OptionalOrigin })
export const PluginVersion = closed(
  {
    ...versionMembers,
    manifest: nullable(FreeObject('As it was uploaded, without the examples; null where it cannot be read.')),
    examples: listOf(AnyValue('Input, lists and configuration, and the output that is expected.'), 1000, {
      description: 'Golden examples: each gave exactly its output when the version was validated.',
    }),
    files: listOf(closed({ path: text(500), size_bytes: Count, sha256: Hash('Of the text in UTF-8.') }), 100),
  },
  { title: 'PluginVersion' },
)

export const PluginSource = closed(
  {
    plugin_key: PluginKey,
    version: registrySchemas.VersionNumber,
    content_hash: Hash('Of manifest and source.'),
    entry: nullable(text(500)),
    files: listOf(closed({ path: text(500), text: Type.String() }), 100),
  },
  { title: 'PluginSource' },
)

export const ValidationResult = closed(
  {
    plugin_key: PluginKey,
    version: registrySchemas.VersionNumber,
    valid: Type.Boolean(),
    reasons: Reasons,
    sandbox_hash: Hash('Build of the sandbox.'),
    fuel_max: nullable(Count),
  },
  { title: 'PluginValidationResult' },
)

export const RunRequest = closed({
  entry_point: Type.Optional(
    oneOf(['factor', 'adapter', 'request', 'parse'], {
      description: 'Of a provider, request or parse; of the other kinds it is the kind itself.',
    }),
  ),
  input: AnyValue('The first argument of the entry point.'),
  state: Type.Optional(AnyValue('Of an adapter: the state after the chunk before.')),
  entries: Type.Optional(
    Type.Unsafe<Record<string, Record<string, Record<string, unknown> | null>>>({
      type: 'object',
      additionalProperties: { type: 'object', additionalProperties: { type: ['object', 'null'] } },
      description:
        'Entries to use instead of those of the lists in force, by list and key; null: the list has no such key.',
    }),
  ),
})
export const RunReply = closed(
  {
    plugin_key: PluginKey,
    version: registrySchemas.VersionNumber,
    content_hash: Hash('Of manifest and source.'),
    sandbox_hash: Hash('Build of the sandbox.'),
    output: AnyValue('What the entry point returned.'),
    fuel: Count,
    read: listOf(closed({ list_key: Slug(), key: text(500) }), 1000, { description: 'Entries that it looked up.' }),
  },
  { title: 'PluginRun' },
)

export const SwitchRequest = closed({ reason: reasonText(2000, { description: 'Why; stored with the change.' }) })
export const GrantRequest = closed({
  lists: listOf(Slug(), 20, { uniqueItems: true, description: 'Lists that it may look up.' }),
  hosts: listOf(
    Type.String({
      pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$',
      maxLength: 253,
      description: 'In lower case, without port.',
    }),
    20,
    { uniqueItems: true, description: 'Hosts that its requests may name; the operator must allow them too.' },
  ),
  reason: reasonText(2000),
  expected_revision: ExpectedRevision,
})
export const ConfigurationRequest = closed({
  configuration: FreeObject('Must fit the config_schema of the version in force, or of the newest one while none is.'),
  reason: reasonText(2000),
  expected_revision: ExpectedRevision,
})

export const Dependents = closed(
  {
    plugin_key: PluginKey,
    version: nullable(registrySchemas.VersionNumber),
    runs: Type.Boolean({ description: 'Whether the version in force can run.' }),
    reasons: Reasons,
    items: listOf(
      closed(
        {
          kind: text(40, { description: 'matrix, provider, playbook, adapter or import.' }),
          key: text(200),
          version: nullable(registrySchemas.VersionNumber),
          title: text(300),
          runs: Type.Boolean({ description: 'False: its operations answer 503 because of the plugin.' }),
          reasons: listOf(closed({ code: text(100), message: text(1000) }), 100, {
            description: 'Why it cannot use the version in force, although that can run.',
          }),
          operations: listOf(text(100), 50, {
            description: 'operationIds that answer 503 for it while the plugin cannot run.',
          }),
        },
        { title: 'PluginDependent' },
      ),
      10_000,
    ),
  },
  { title: 'PluginDependents' },
)

export const InvocationQuery = closed({
  ...pageQuery,
  failed: Type.Optional(Type.Boolean({ description: 'true: only those with a failure.', default: false })),
})
const Invocation = closed(
  {
    invocation_id: Id(),
    version: registrySchemas.VersionNumber,
    origin: registrySchemas.Origin,
    content_hash: Hash('Of manifest and source.'),
    sandbox_hash: Hash('Build of the sandbox.'),
    cause: closed({
      kind: text(40, { description: 'What it was run for.' }),
      id: nullable(Id({ description: 'Null: nothing came of it.' })),
    }),
    items: Count,
    failed: Count,
    fuel_total: Count,
    fuel_max: Count,
    failures: listOf(
      closed({
        item: Count,
        reason: text(100),
        message: Type.String({
          description:
            'Without the text of an error that a factor or provider threw: it may quote what is known about a subject.',
        }),
        line: nullable(Count),
        stack: nullable(Type.String()),
        fuel: Count,
      }),
      10,
      { description: 'The first failures.' },
    ),
    invoked_at: Timestamp(),
    invoked_by: text(200),
    restriction_id: RestrictionInForce(),
  },
  { title: 'PluginInvocation' },
)
export const InvocationPage = closed({
  ...pageOf(Invocation).properties,
  last_30_days: closed({ invocations: Count, items: Count, failed: Count, fuel_max: Count }),
})
