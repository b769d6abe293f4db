/** Wire contract of tool servers. Titles, descriptions and schemas of tools are texts of other parties: data. */
import {
  Count,
  closed,
  ExpectedRevision,
  integer,
  listOf,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  Revision,
  reasonText,
  Slug,
  Timestamp,
  Type,
  text,
  titleText,
} from '#kernel/schema.ts'
import { type Auth, CredentialMember } from '#provider/manifest.ts'
import { MAX_TOOLS, refusedReasons, TOOL_NAME_PATTERN } from '#provider/tools/tool-definition.ts'
import { toolStates } from './tool-state.ts'

const KEY_PATTERN = '^[a-z0-9][a-z0-9_-]{0,95}$'
const ServerKey = Type.String({ pattern: KEY_PATTERN, maxLength: 96, examples: ['acme-tools'] })
const ToolName = Type.String({ pattern: TOOL_NAME_PATTERN, maxLength: 128, examples: ['lookup_company'] })
const Hash = Type.String({
  pattern: '^[0-9a-f]{64}$',
  minLength: 64,
  maxLength: 64,
  examples: ['5f8d'.padEnd(64, '0')],
})
const ServerUrl = text(2000, {
  description: 'Where it takes requests (streamable HTTP); https, with a fixed host.',
  examples: ['https://tools.acme.example/mcp'],
})
const AuthSettings = Type.Unsafe<Auth>({
  type: 'object',
  required: ['kind'],
  properties: { kind: oneOf(['none', 'header', 'basic', 'oauth2_client_credentials', 'mtls']) },
  description:
    'As in the manifest of a provider. No other way to authenticate is looked for, whatever the server answers.',
  examples: [{ kind: 'header', name: 'authorization', value: 'Bearer {credential.token}' }],
})
const CredentialMembers = closed({ members: listOf(CredentialMember, 20, { minItems: 1 }) })

export const ServerParams = closed({ server_key: ServerKey })
export const ToolParams = closed({ server_key: ServerKey, tool_name: ToolName })
export const ServerQuery = closed({ ...pageQuery })
export const RemovalQuery = closed({ reason: reasonText(1000) })

export const NewToolServer = closed({
  server_key: ServerKey,
  title: titleText(200, { examples: ['Acme company tools'] }),
  description: Type.Optional(nullable(text(2000))),
  url: ServerUrl,
  auth: Type.Optional(AuthSettings),
  credential: Type.Optional(nullable(CredentialMembers)),
})
export const ToolServerChange = closed({
  title: Type.Optional(titleText(200)),
  description: Type.Optional(nullable(text(2000))),
  url: Type.Optional(ServerUrl),
  auth: Type.Optional(AuthSettings),
  credential: Type.Optional(nullable(CredentialMembers)),
  reason: reasonText(1000),
  expected_revision: ExpectedRevision,
})

const serverMembers = {
  server_key: ServerKey,
  title: text(200),
  description: nullable(text(2000)),
  url: ServerUrl,
  auth: AuthSettings,
  credential: nullable(CredentialMembers),
  credential_key: Type.String({
    description: 'What its credential is stored under: the provider_key of POST /provider-credentials.',
    examples: ['mcp/acme-tools'],
  }),
  credential_members: listOf(
    closed({ name: text(60), secret: Type.Boolean(), max_length: integer(1, 1_000_000) }),
    20,
    { description: 'What its credential holds; empty: none is needed.' },
  ),
  protocol_version: nullable(text(200, { description: 'As negotiated when its tools were listed last.' })),
  server_name: nullable(text(200, { description: 'As the server names itself.' })),
  server_version: nullable(text(200)),
  checked_at: nullable(Timestamp({ description: 'When its tools were listed last.' })),
  failing_since: nullable(Timestamp({ description: 'Since when they cannot be listed; null: they can.' })),
  last_fault: nullable(text(100, { description: 'A fixed word, never a text of the server.' })),
  tools_pinned: Count,
  tools_new: Count,
  tools_quarantined: Count,
  created_at: Timestamp(),
  created_by: text(200),
  updated_at: Timestamp(),
  revision: Revision,
}
export const ToolServerItem = closed(serverMembers, { title: 'ToolServerItem' })
export const ToolServerPage = pageOf(ToolServerItem)

const ToolReason = closed({ code: text(100), message: text(1000), pointer: Type.Optional(Type.String()) })
const toolMembers = {
  tool_name: ToolName,
  state: oneOf(toolStates, {
    description:
      'pinned: may be called. new: never pinned. changed, vanished: in quarantine until it is pinned again; operations that need it answer 503.',
  }),
  title: nullable(text(200)),
  pinned_hash: nullable(Hash),
  pin_no: nullable(integer(1, Number.MAX_SAFE_INTEGER)),
  pinned_at: nullable(Timestamp()),
  pinned_by: nullable(text(200)),
  offered_hash: nullable(Hash),
  quarantined_at: nullable(Timestamp()),
  first_seen_at: Timestamp(),
  last_seen_at: Timestamp(),
}
const ServerToolItem = closed(toolMembers, { title: 'ServerToolItem' })

export const ToolServer = closed(
  {
    ...serverMembers,
    tools: listOf(ServerToolItem, MAX_TOOLS * 2),
    refused: listOf(
      closed({
        name: nullable(Type.String({ description: 'With escapes for everything but visible ASCII.' })),
        reason: oneOf(refusedReasons),
      }),
      50,
      { description: 'Tools that the server lists and that cannot be used.' },
    ),
  },
  { title: 'ToolServer' },
)

const Definition = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'name, title, description, inputSchema, outputSchema and annotations, as the server listed them.',
})
export const ServerTool = closed(
  {
    server_key: ServerKey,
    ...toolMembers,
    pinned: nullable(Definition),
    offered: nullable(Definition),
    differences: listOf(
      closed({
        pointer: Type.String(),
        pinned: Type.Optional(Type.Unsafe<unknown>({})),
        offered: Type.Optional(Type.Unsafe<unknown>({})),
      }),
      200,
      { description: 'What the offered definition changes against the pinned one.' },
    ),
    unusable: listOf(ToolReason, 20, { description: 'What keeps the offered definition from being pinned.' }),
  },
  { title: 'ServerTool' },
)

export const PinRequest = closed({
  definition_hash: Hash,
  reason: reasonText(1000, { description: 'What was reviewed.' }),
})
export const DiscoverPayload = closed({ server_key: Slug() })
