/** Wire contract of the tool protocol's own operations: tools, policy, approvals and the call log. */
import { roles } from '#kernel/auth/roles.ts'
import {
  Count,
  closed,
  Id,
  listOf,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  RestrictionInForce,
  Revision,
  reasonText,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'

const decisions = ['allow', 'forbid', 'person'] as const
const ToolName = (options: Record<string, unknown> = {}) =>
  text(64, { pattern: '^[a-z][a-z0-9_]{0,63}$', examples: ['evaluate_subject'], ...options })

export const ToolList = closed(
  {
    items: listOf(
      closed({
        tool: ToolName(),
        title: text(200),
        description: text(400),
        effect: oneOf(['read', 'work', 'propose']),
        operation: text(100, { description: 'operationId of what it calls.' }),
        roles: listOf(oneOf(roles), roles.length, { description: 'Who may use it, as far as the tool policy allows.' }),
        decision: oneOf(decisions, { description: 'What the tool policy says for the caller.' }),
        decisions: listOf(
          closed({
            role: oneOf(roles),
            decision: oneOf([...decisions, 'off'], {
              description: '`off`: forbidden, because no rule for this role names the tool, which has to be turned on.',
            }),
          }),
          roles.length,
          { description: 'What the tool policy says to a caller with one role alone, for each of `roles`.' },
        ),
        off_by_default: Type.Boolean({ description: 'Whether it is off until a rule names it.' }),
        usable: Type.Boolean({ description: 'Whether the caller may call it.' }),
        listed: Type.Boolean({
          description:
            'Whether the caller finds it in tools/list, which holds 24 tools. One that is left out is called by name.',
        }),
      }),
      200,
    ),
  },
  { title: 'ToolList' },
)

export const ToolRule = closed({
  tool: text(64, {
    pattern: '^(\\*|[a-z][a-z0-9_]{0,63})$',
    description: 'A tool, or * for every tool without a rule.',
  }),
  roles: listOf(oneOf(roles), roles.length, {
    uniqueItems: true,
    description: 'Callers with one of these roles; everybody where it is empty.',
  }),
  decision: oneOf(decisions, {
    description:
      '`person`: each call waits until another person approves exactly its arguments. The strictest of several rules holds.',
  }),
})

const Rules = listOf(ToolRule, 200)

export const ToolPolicy = closed(
  { rules: Rules, revision: Revision, updated_at: nullable(Timestamp()), updated_by: nullable(text(200)) },
  { title: 'ToolPolicy' },
)
export const ToolPolicyChange = closed({
  rules: Rules,
  reason: Type.Optional(reasonText(1000)),
  expected_revision: Type.Optional(Revision),
})

const approvalStates = ['waiting', 'expired', 'approved', 'denied', 'succeeded', 'failed'] as const

export const ToolApproval = closed(
  {
    approval_id: Id(),
    tool: ToolName(),
    operation: text(100),
    arguments: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Exactly what approving will run.',
    }),
    arguments_hash: text(32),
    client: nullable(text(200, { description: 'What the program calls itself.' })),
    requested_at: Timestamp(),
    requested_by: text(200),
    requested_roles: listOf(text(50), roles.length),
    expires_at: Timestamp(),
    state: oneOf(approvalStates, {
      description:
        '`approved`: it is running, or has not run yet (`running` and `run_problem` tell). `expired`: nobody approved it in time, or it did not run in time.',
    }),
    decided_at: nullable(Timestamp()),
    decided_by: nullable(text(200)),
    note: nullable(text(2000)),
    outcome: Type.Unsafe<unknown>({ description: 'What the operation answered: its reply, or the problem.' }),
    collected_at: nullable(Timestamp({ description: 'When the caller got the outcome.' })),
    running: Type.Boolean({ description: 'It is running now.' }),
    run_problem: nullable(
      text(100, { description: 'The code of the problem because of which an approved call has not run.' }),
    ),
    ran_at: nullable(
      Timestamp({ description: 'When the operation took effect. The outcome is stored right after it.' }),
    ),
    restriction_id: RestrictionInForce(),
  },
  { title: 'ToolApproval' },
)
export const ToolApprovalPage = pageOf(ToolApproval)
export const ToolApprovalParams = closed({ approval_id: Id() })
export const ToolApprovalQuery = closed({
  ...pageQuery,
  state: Type.Optional(
    oneOf(['open', ...approvalStates], { description: '`open`: waiting, or approved without an outcome yet.' }),
  ),
})
export const ApprovalDecision = closed({ note: Type.Optional(text(2000)) })

export const ToolCallView = closed(
  {
    call_id: Id({ description: 'Also the id of its audit event.' }),
    called_at: Timestamp(),
    principal: text(200),
    client: nullable(text(200, { description: 'What the program calls itself.' })),
    tool: text(100, { description: '`unknown-tool`: no tool has the name that was given, which is not kept.' }),
    operation: nullable(text(100, { description: 'Null: there is no such tool.' })),
    arguments_hash: text(32, { description: 'A keyed hash: equal arguments have equal hashes.' }),
    result_hash: nullable(text(32)),
    problem: nullable(text(100, { description: 'The code of the problem; null when the call succeeded.' })),
    approval_id: nullable(Id()),
    request_id: Id(),
    duration_ms: Count,
    restriction_id: RestrictionInForce(),
  },
  { title: 'ToolCall' },
)
export const ToolCallPage = pageOf(ToolCallView)
export const ToolCallParams = closed({ call_id: Id() })
export const ToolCallQuery = closed({
  ...pageQuery,
  tool: Type.Optional(text(100)),
  principal: Type.Optional(text(200)),
  outcome: Type.Optional(oneOf(['succeeded', 'problem'])),
})

export const ProtectedResource = closed(
  {
    resource: text(1000, { description: 'The address that clients must use, and the audience of their tokens.' }),
    authorization_servers: Type.Optional(listOf(text(500), 100)),
    bearer_methods_supported: listOf(text(20), 3),
    scopes_supported: listOf(text(50), 20),
    resource_name: text(100),
    resource_documentation: text(1000),
  },
  { title: 'ProtectedResource' },
)
