/** Wire contract of restrictions, their access lists and the designation of the MLRO. */
import {
  Count,
  closed,
  Id,
  integer,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  Revision,
  reasonText,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'

const Reason = reasonText(2000)

export const Restriction = closed(
  {
    restriction_id: Id(),
    purpose: text(500, { description: 'Why access is restricted. Only people with access see it.' }),
    is_in_force: Type.Boolean({ description: 'false: everybody whose role allows it sees what belongs to it.' }),
    people: closed(
      { granted: Count, excluded: Count, mlros: Count },
      {
        description:
          'How many people have access by name, how many are excluded, and how many designated MLROs see it: those who are not excluded.',
      },
    ),
    imposed_at: nullable(Timestamp()),
    imposed_by: nullable(text(200)),
    lifted_at: nullable(Timestamp()),
    lifted_by: nullable(text(200)),
    lift_reason: nullable(text(2000)),
    created_at: Timestamp(),
    created_by: text(200),
    updated_at: Timestamp(),
    revision: Revision,
  },
  { title: 'Restriction' },
)
export const RestrictionPage = pageOf(Restriction)
export const RestrictionParams = closed({ restriction_id: Id() })
export const RestrictionQuery = closed({ ...pageQuery, is_in_force: Type.Optional(Type.Boolean()) })
export const RestrictionRequest = closed({
  purpose: text(500, { minLength: 1, examples: ['Suspicion about the payments of a customer'] }),
  is_in_force: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'false: prepared, and imposed later; then it also hides what was stored until then.',
    }),
  ),
})
export const LiftRequest = closed({ reason: Reason })

const accessMembers = {
  user_id: Id(),
  effect: oneOf(['grant', 'exclude'], {
    description: 'exclude: the person sees nothing of it, even as the designated MLRO.',
  }),
  break_glass: Type.Boolean({ description: 'Access in an emergency, given to an auditor for a few hours.' }),
  until: nullable(Timestamp({ description: 'A grant ends then; null: it does not end by itself.' })),
  reason: nullable(text(2000)),
  granted_at: Timestamp(),
  granted_by: text(200),
  ended_at: nullable(
    Timestamp({ description: 'When it was revoked or replaced, or ended by itself; null: it holds.' }),
  ),
  ended_by: nullable(text(200, { description: 'Who revoked or replaced it; null: it holds, or ended by itself.' })),
}
export const RestrictionAccess = closed(accessMembers, { title: 'RestrictionAccess' })
export const RestrictionAccessPage = pageOf(RestrictionAccess)
export const AccessParams = closed({ restriction_id: Id(), user_id: Id() })
export const AccessQuery = closed(pageQuery)
export const AccessListQuery = closed({
  ...pageQuery,
  include: Type.Optional(
    oneOf(['ended'], { description: 'ended: also what was revoked or replaced, with its reason.' }),
  ),
})
export const AccessRequest = closed({
  effect: oneOf(['grant', 'exclude']),
  until: Type.Optional(nullable(Timestamp({ description: 'Only for a grant.' }))),
  reason: Type.Optional(nullable(Reason)),
})
export const BreakGlassRequest = closed({
  user_id: Id({ description: 'An auditor.' }),
  hours: integer(1, 8),
  reason: Reason,
})

const AccessLogEntry = closed(
  {
    event_id: Id({ description: 'The event of the audit record.' }),
    recorded_at: Timestamp(),
    actor: text(300),
    operation: text(200),
    object_type: text(100),
    object_id: text(500),
  },
  { title: 'AccessLogEntry' },
)
export const AccessLogPage = pageOf(AccessLogEntry)

export const MlroDesignation = closed(
  {
    designation_id: Id(),
    user_id: Id(),
    effect: oneOf(['designate', 'end']),
    reason: text(2000),
    state: oneOf(['waiting', 'confirmed', 'withdrawn']),
    proposed_at: Timestamp(),
    proposed_by: text(200),
    decided_at: nullable(Timestamp()),
    decided_by: nullable(text(200)),
  },
  { title: 'MlroDesignation' },
)
export const MlroDesignationPage = pageOf(MlroDesignation)
export const DesignationParams = closed({ designation_id: Id() })
export const DesignationQuery = closed({
  ...pageQuery,
  state: Type.Optional(oneOf(['waiting', 'confirmed', 'withdrawn'])),
})
export const DesignationRequest = closed({ user_id: Id(), effect: oneOf(['designate', 'end']), reason: Reason })
